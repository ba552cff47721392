/** The types of error groups (contract part 2, "Failures"). */

export const errorGroupStatuses = ['open', 'resolved', 'ignored'] as const;
export type ErrorGroupStatus = (typeof errorGroupStatuses)[number];
