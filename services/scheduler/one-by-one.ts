/** After this many failures, the remaining items are skipped, because the database is a more likely cause than the
 *  items. */
const maxFailures = 3;

/** Processes the items in order, and continues after a failed item.
 *  @throws the first error, after the last item or after too many failures */
export async function oneByOne<Item>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      errors.push(error);
      if (errors.length === maxFailures) break;
    }
  }
  if (errors.length > 0) throw errors[0];
}
