// Ends with 0 where a page is answered well: node healthy.mjs URL
const [url] = process.argv.slice(2);
const answer = await fetch(url, { signal: AbortSignal.timeout(4000) }).catch(() => undefined);
process.exit(answer?.ok === true ? 0 : 1);
