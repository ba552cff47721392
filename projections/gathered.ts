/** Makes one question of those that are asked together. An answer is never older than its question: it
 *  is asked for afterwards.
 *  @param load answers many at once; what is not in the answer does not exist
 *  @param turn how long questions are gathered. Default: until the code that asks them lets go */
export function gathered<Key extends string, Value>(
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
