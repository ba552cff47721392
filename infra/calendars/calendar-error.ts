/** The calendar cannot be used. The message is a sentence for the user. */
export class CalendarError extends Error {}
