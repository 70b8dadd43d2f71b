"""Recalculates estimates from the factors that they list, independently of the service.

Reads [{"type", "data", "estimate"}] from standard input, and prints the number of cases, the largest
relative difference and the fuels as JSON.
"""

import json
import sys
from collections import defaultdict

LITRES = {"l": 1, "m3": 1000}
GALLONS = {"gal-us": "Litres in a US gallon", "gal-imp": "Litres in an imperial gallon"}
KILOGRAMS = {"kg": 1, "t": 1000}


class Factors:
    """The numbers that an estimate lists: of each fuel, entered for a line, and of no fuel."""

    def __init__(self, listed):
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

    def burnt(self, fuel):
        """Kilograms of CO2e from burning a kilogram of fuel."""
        return (
            fuel["Tank-to-wake CO2"]
            + fuel["Tank-to-wake CH4"] * self.general["GWP100 of CH4"]
            + fuel["Tank-to-wake N2O"] * self.general["GWP100 of N2O"]
        )

    def litres(self, quantity, unit):
        return quantity * (self.general[GALLONS[unit]] if unit in GALLONS else LITRES[unit])

    def nautical_miles(self, distance, unit):
        if unit == "nmi":
            return distance
        kilometres = distance * (self.general["Kilometres in a mile"] if unit == "mi" else 1)
        return kilometres / self.general["Kilometres in a nautical mile"]


def burn(factors, fuel_type, litres, certified):
    fuel = factors.fuels[fuel_type]
    if fuel_type == "hvo" and certified is not None:
        well_to_tank = fuel["Lower calorific value"] * certified / 1000 - fuel["Tank-to-wake CO2"]
        return litres * fuel["Density"] * (well_to_tank + factors.burnt(fuel))
    if "Lower calorific value" not in fuel or fuel_type == "hvo":
        return litres * (fuel["Well-to-tank"] + fuel["Tank-to-wake"])
    slip = fuel.get("Methane slip", 0)
    well_to_tank = fuel["Lower calorific value"] * fuel["Well-to-tank"] / 1000
    tank_to_wake = (1 - slip) * factors.burnt(fuel) + slip * factors.general.get("GWP100 of CH4", 0)
    return litres * fuel["Density"] * (well_to_tank + tank_to_wake)


def line(factors, data, number, litres=None):
    entered = factors.entered[number]
    if data["fuelType"] == "electricity":
        return data["quantity"] * entered["Electricity"]
    hvo = data.get("hvoPercent", 0) / 100
    shares = {data["fuelType"]: 1} if hvo == 0 else {data["fuelType"]: 1 - hvo, "hvo": hvo}
    shares = {fuel_type: share for fuel_type, share in shares.items() if share > 0}
    if litres is None and data["unit"] in KILOGRAMS:
        density = sum(factors.fuels[fuel]["Density"] * share for fuel, share in shares.items())
        litres = data["quantity"] * KILOGRAMS[data["unit"]] / density
    elif litres is None:
        litres = factors.litres(data["quantity"], data["unit"])
    certified = entered.get("Certified well-to-wake")
    return sum(burn(factors, fuel, litres * share, certified) for fuel, share in shares.items())


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
    data, factors = case["data"], Factors(case["estimate"]["factors"])
    if case["type"] == "custom":
        return data["amount"] * KILOGRAMS[data["unit"]]
    litres = distance_litres(factors, data) if case["type"] == "distance" else None
    further = enumerate(data.get("furtherLines", []), 2)
    return line(factors, data, 1, litres) + sum(line(factors, one, i) for i, one in further)


cases = json.load(sys.stdin)
worst = 0
for case in cases:
    expected = recalculate(case)
    worst = max(worst, abs(case["estimate"]["co2eKg"] - expected) / expected)
fuels = {one["fuelType"] for case in cases for one in case["estimate"]["lines"]}
print(json.dumps({"cases": len(cases), "worst": worst, "fuels": sorted(fuels)}))
