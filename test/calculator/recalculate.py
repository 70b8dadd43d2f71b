"""Recalculates estimates from the factors that the API lists, independently of the service.

Reads {"editions": [...], "cases": [{"type", "data", "edition", "estimate"}]} from standard input, and
prints the number of cases and the largest relative difference as JSON.
"""

import json
import sys

LITRES = {"l": 1, "m3": 1000, "gal-us": 3.785411784, "gal-imp": 4.54609}
KILOGRAMS = {"kg": 1, "t": 1000}
NAUTICAL_MILES = {"nmi": 1, "km": 1 / 1.852, "mi": 1.609344 / 1.852}


def by_name(factors):
    return {factor["name"]: factor["value"] for factor in factors}


def per_unit(factors):
    """Kilograms of CO2e per kilogram or litre of fuel: well-to-tank, tank-to-wake."""
    if "Lower calorific value" not in factors:
        return "l", factors["Well-to-tank"], factors["Tank-to-wake"]
    slip = factors.get("Methane slip", 0)
    ch4, n2o = factors["GWP100 of CH4"], factors["GWP100 of N2O"]
    burnt = (
        factors["Tank-to-wake CO2"]
        + factors["Tank-to-wake CH4"] * ch4
        + factors["Tank-to-wake N2O"] * n2o
    )
    well_to_tank = factors["Lower calorific value"] * factors["Well-to-tank"] / 1000
    return "kg", well_to_tank, (1 - slip) * burnt + slip * ch4


def burn(fuels, fuel_type, litres, certified, listed):
    factors = fuels[fuel_type]
    if fuel_type == "hvo" and certified is not None:
        # The factors of a certified biofuel are those that the estimate lists.
        used = by_name(f for f in listed if f.get("fuelType", "hvo") == "hvo")
        kilograms = litres * factors["Density"]
        burnt = (
            used["Tank-to-wake CO2"]
            + used["Tank-to-wake CH4"] * used["GWP100 of CH4"]
            + used["Tank-to-wake N2O"] * used["GWP100 of N2O"]
        )
        well_to_tank = used["Lower calorific value"] * certified / 1000 - used["Tank-to-wake CO2"]
        return kilograms * (well_to_tank + burnt)
    unit, well_to_tank, tank_to_wake = per_unit(factors)
    amount = litres if unit == "l" else litres * factors["Density"]
    return amount * (well_to_tank + tank_to_wake)


def line(fuels, data, litres, listed):
    share = data.get("hvoPercent", 0) / 100
    certified = data.get("certifiedGCo2ePerMj")
    if data["fuelType"] == "electricity":
        return data["quantity"] * data["kgCo2ePerKwh"]
    if litres is None:
        unit, quantity = data["unit"], data["quantity"]
        if unit in LITRES:
            litres = quantity * LITRES[unit]
        else:
            density = fuels[data["fuelType"]]["Density"]
            if share:
                density = density * (1 - share) + fuels["hvo"]["Density"] * share
            litres = quantity * KILOGRAMS[unit] / density
    total = burn(fuels, "hvo", litres * share, certified, listed) if share else 0
    return total + burn(fuels, data["fuelType"], litres * (1 - share), certified, listed)


def distance_litres(data):
    miles = data["distance"] * NAUTICAL_MILES[data["distanceUnit"]]
    hours = miles / data["speedKn"]
    ratio = data["speedKn"] / data.get("referenceSpeedKn", data["speedKn"])
    if data["consumptionUnit"] == "l/h":
        engines = data["consumption"] * ratio**3 * hours
    else:
        engines = data["consumption"] * ratio**2 * miles
    return engines + data.get("generatorLitresPerHour", 0) * data.get("generatorHours", hours)


def recalculate(fuels, case):
    data, listed = case["data"], case["estimate"]["factors"]
    if case["type"] == "custom":
        return data["amount"] * KILOGRAMS[data["unit"]]
    litres = distance_litres(data) if case["type"] == "distance" else None
    further = data.get("furtherLines", [])
    return line(fuels, data, litres, listed) + sum(line(fuels, one, None, listed) for one in further)


given = json.load(sys.stdin)
editions = {
    edition["id"]: {fuel["fuelType"]: by_name(fuel["factors"]) for fuel in edition["fuels"]}
    for edition in given["editions"]
}
worst = 0
for case in given["cases"]:
    found = case["estimate"]["co2eKg"]
    expected = recalculate(editions[case["edition"]], case)
    worst = max(worst, abs(found - expected) / expected)
print(json.dumps({"cases": len(given["cases"]), "worst": worst}))
