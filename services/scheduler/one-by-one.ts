/** After this many failures, the cause is probably the database, not the items. */
const maxFailures = 3;

/** Processes the items in order; a failure does not block later items.
 *  @throws the first error, once the others are done or too many have failed */
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
