/** How other programs call an address, ready to be copied. */
export const samples = {
  curl: (address: string) =>
    `curl -X POST '${address}' \\
  -H 'Content-Type: application/json' -d '{"hello": "world"}'`,
  Python: (address: string) =>
    `import json, urllib.request

request = urllib.request.Request(
    "${address}",
    data=json.dumps({"hello": "world"}).encode(),
    headers={"Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`,
  JavaScript: (address: string) =>
    `const answer = await fetch('${address}', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ hello: 'world' }),
});
console.log(await answer.json());`,
} as const;

export type SampleLanguage = keyof typeof samples;
