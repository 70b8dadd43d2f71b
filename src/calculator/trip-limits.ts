/** Higher than the speed of any vessel, in knots */
export const MAX_SPEED_KN = 100

/** The hours of a leap year */
export const MAX_TRIP_HOURS = 8_784
