/** Where so many fail, it is not because of them: the database may be away. */
const mostFailures = 3;

/** Does its work for each of them in turn; one that fails does not hold up those behind it.
 *  @throws what the first that failed has thrown, once the others are done or too many have failed */
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
      if (errors.length === mostFailures) break;
    }
  }
  if (errors.length > 0) throw errors[0];
}
