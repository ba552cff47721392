/** The calendar is invalid. The message is a sentence for the user. */
export class CalendarError extends Error {}
