// Exits with code 0 if a request to the URL succeeds: node healthy.mjs URL
const [url] = process.argv.slice(2);
const answer = await fetch(url, { signal: AbortSignal.timeout(4000) }).catch(() => undefined);
process.exit(answer?.ok === true ? 0 : 1);
