"""Recalculates estimates from the factors that they list, independently of the service.

Reads [{"type", "data", "framework", "estimate"}] from standard input, and prints the number of cases,
the largest relative difference and the fuels as JSON.
"""

import json
import sys
from collections import defaultdict

LITRES = {"l": 1, "m3": 1000}
GALLONS = {"gal-us": "Litres in a US gallon", "gal-imp": "Litres in an imperial gallon"}
KILOGRAMS = {"kg": 1, "t": 1000}
# GWP100 of CH4 and N2O
FRAMEWORKS = {"clearwake": (29.8, 273), "fueleu": (25, 298), "imo": (28, 265)}
GASES = ("co2Kg", "ch4Kg", "n2oKg", "biogenicCo2Kg")


class Factors:
    """The numbers that an estimate lists: of each fuel, entered for a line, and of no fuel."""

    def __init__(self, listed, framework):
        self.ch4, self.n2o = FRAMEWORKS[framework]
        self.fuels = defaultdict(dict)
        self.entered = defaultdict(dict)
        self.general = {}
        for factor in listed:
            if "line" in factor:
                group = self.entered[factor["line"]]
            elif "fuelType" in factor:
                group = self.fuels[factor["fuelType"]]
            else:
                group = self.general
            group[factor["name"]] = factor["value"]

    def litres(self, quantity, unit):
        return quantity * (self.general[GALLONS[unit]] if unit in GALLONS else LITRES[unit])

    def nautical_miles(self, distance, unit):
        if unit == "nmi":
            return distance
        kilometres = distance * (self.general["Kilometres in a mile"] if unit == "mi" else 1)
        return kilometres / self.general["Kilometres in a nautical mile"]


class Result:
    """Kilograms of CO2e and of each gas; a gas is None if it is not known."""

    def __init__(self, co2e=0, gases=(0, 0, 0, 0)):
        self.co2e = co2e
        self.gases = gases

    def __add__(self, other):
        pairs = zip(self.gases, other.gases)
        gases = tuple(None if a is None or b is None else a + b for a, b in pairs)
        return Result(self.co2e + other.co2e, gases)


def burn(factors, fuel_type, litres, certified, certified_as):
    fuel = factors.fuels[fuel_type]
    kilograms = litres * fuel["Density"]
    if "Lower calorific value" not in fuel or (fuel_type == "hvo" and certified is None):
        biogenic = kilograms * fuel["Biogenic CO2"] if "Biogenic CO2" in fuel else None
        return Result(
            litres * (fuel["Well-to-tank"] + fuel["Tank-to-wake"]), (None, None, None, biogenic)
        )
    slip = fuel.get("Methane slip", 0)
    co2 = kilograms * (1 - slip) * fuel["Tank-to-wake CO2"]
    ch4 = kilograms * ((1 - slip) * fuel["Tank-to-wake CH4"] + slip)
    n2o = kilograms * (1 - slip) * fuel["Tank-to-wake N2O"]
    if certified is None:
        well_to_tank = fuel["Lower calorific value"] * fuel["Well-to-tank"] / 1000
    else:
        well_to_tank = fuel["Lower calorific value"] * certified / 1000 - fuel["Tank-to-wake CO2"]
    co2e = kilograms * well_to_tank + co2 + ch4 * factors.ch4 + n2o * factors.n2o
    is_bio = certified is not None and certified_as == "bio"
    return Result(co2e, (0, ch4, n2o, co2) if is_bio else (co2, ch4, n2o, 0))


def line(factors, data, number, litres=None):
    entered = factors.entered[number]
    if data["fuelType"] == "electricity":
        return Result(data["quantity"] * entered["Electricity"])
    hvo = data.get("hvoPercent", 0) / 100
    shares = {data["fuelType"]: 1} if hvo == 0 else {data["fuelType"]: 1 - hvo, "hvo": hvo}
    shares = {fuel_type: share for fuel_type, share in shares.items() if share > 0}
    if litres is None and data["unit"] in KILOGRAMS:
        density = sum(factors.fuels[fuel]["Density"] * share for fuel, share in shares.items())
        litres = data["quantity"] * KILOGRAMS[data["unit"]] / density
    elif litres is None:
        litres = factors.litres(data["quantity"], data["unit"])
    certified = entered.get("Certified well-to-wake")
    result = Result()
    for fuel, share in shares.items():
        # The certificate of a blend is for its HVO.
        value = None if fuel == "mgo" else certified
        result += burn(factors, fuel, litres * share, value, data.get("certifiedAs", "bio"))
    return result


def distance_litres(factors, data):
    miles = factors.nautical_miles(data["distance"], data["distanceUnit"])
    hours = miles / data["speedKn"]
    ratio = data["speedKn"] / data.get("referenceSpeedKn", data["speedKn"])
    if data["consumptionUnit"] == "l/h":
        engines = data["consumption"] * ratio**3 * hours
    else:
        engines = data["consumption"] * ratio**2 * miles
    return engines + data.get("generatorLitresPerHour", 0) * data.get("generatorHours", hours)


def recalculate(case):
    data = case["data"]
    factors = Factors(case["estimate"]["factors"], case["framework"])
    if case["type"] == "custom":
        return Result(data["amount"] * KILOGRAMS[data["unit"]], (None,) * 4)
    litres = distance_litres(factors, data) if case["type"] == "distance" else None
    result = line(factors, data, 1, litres)
    for number, further in enumerate(data.get("furtherLines", []), 2):
        result += line(factors, further, number)
    return result


def difference(found, expected, scale=0):
    """
    Difference beyond rounding (to the gram; below 10 kg, to six digits), relative to `expected`; of
    a value that is tiny beside `scale`, relative to a part of that.
    """
    if found is None or expected is None:
        return 0 if found is expected else float("inf")
    rounding = abs(expected) * 5e-6 if abs(expected) < 10 else 0.0005
    beyond = max(0, abs(found - expected) - rounding)
    return beyond / max(abs(expected), scale * 1e-6) if beyond else 0


cases = json.load(sys.stdin)
worst = 0
for case in cases:
    expected = recalculate(case)
    found = case["estimate"]
    differences = [difference(found["co2eKg"], expected.co2e)]
    scale = sum(kilograms or 0 for kilograms in expected.gases)
    for name, kilograms in zip(GASES, expected.gases):
        differences.append(difference(found["gases"][name], kilograms, scale))
    worst = max(worst, *differences)
fuels = {one["fuelType"] for case in cases for one in case["estimate"]["lines"]}
print(json.dumps({"cases": len(cases), "worst": worst, "fuels": sorted(fuels)}))
