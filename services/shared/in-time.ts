/** Waits for a check, which may continue after the timeout. @returns whether the check succeeds within `timeoutMs` */
export async function inTime(check: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const passes = check.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([passes, late]);
  } finally {
    clearTimeout(timer);
  }
}
