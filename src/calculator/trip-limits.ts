/** Above the speed of any vessel, knots */
export const MAX_SPEED_KN = 100

/** A leap year */
export const MAX_TRIP_HOURS = 8_784
