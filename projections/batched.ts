/** Batches concurrent lookups into one query. The query starts after the lookups were requested, so no result is
 *  older than its request.
 *  @param load looks up many keys in one query. Its result omits keys that do not exist.
 *  @param turn waits while lookups are collected. Default: until the current task ends */
export function batched<Key extends string, Value>(
  load: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Value>>,
  turn: () => Promise<void> = () => Promise.resolve(),
): (key: Key) => Promise<Value | undefined> {
  let wanted = new Set<Key>();
  let answer: Promise<ReadonlyMap<string, Value>> | undefined;
  const ask = async () => {
    await turn();
    const keys = [...wanted];
    wanted = new Set();
    answer = undefined;
    return await load(keys);
  };
  return async (key) => {
    wanted.add(key);
    answer ??= ask();
    return (await answer).get(key);
  };
}
