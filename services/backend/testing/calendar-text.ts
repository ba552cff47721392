/** A calendar with one event, Christmas of every year. */
export const calendarText = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//test//EN
BEGIN:VEVENT
UID:christmas
DTSTART;VALUE=DATE:20251225
DTEND;VALUE=DATE:20251227
RRULE:FREQ=YEARLY
SUMMARY:Christmas
END:VEVENT
END:VCALENDAR
`;
