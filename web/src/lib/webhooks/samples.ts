/** Ready-to-copy sample code that calls a webhook URL. */
const plain = {
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

export type SampleLanguage = keyof typeof plain;
export const sampleLanguages = Object.keys(plain) as SampleLanguage[];

/** The same samples with a signature in the format of Standard Webhooks. */
const signed: Record<SampleLanguage, (address: string, secret: string) => string> = {
  curl: (address, secret) =>
    `body='{"hello": "world"}' id="msg_$(date +%s)" now="$(date +%s)"
key="$(printf %s '${secret.slice('whsec_'.length)}' | base64 -d | od -An -v -tx1 | tr -d ' \\n')"
signature="$(printf %s "$id.$now.$body" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)"
curl -X POST '${address}' -H 'Content-Type: application/json' -d "$body" \\
  -H "webhook-id: $id" -H "webhook-timestamp: $now" -H "webhook-signature: v1,$signature"`,
  Python: (address, secret) =>
    `import base64, hashlib, hmac, json, time, urllib.request, uuid

body = json.dumps({"hello": "world"}).encode()
message, now = f"msg_{uuid.uuid4().hex}", str(int(time.time()))
key = base64.b64decode("${secret}".removeprefix("whsec_"))
mac = hmac.new(key, f"{message}.{now}.".encode() + body, hashlib.sha256).digest()
headers = {
    "Content-Type": "application/json",
    "webhook-id": message,
    "webhook-timestamp": now,
    "webhook-signature": "v1," + base64.b64encode(mac).decode(),
}
request = urllib.request.Request("${address}", data=body, headers=headers)
print(urllib.request.urlopen(request).read().decode())`,
  JavaScript: (address, secret) =>
    `import { createHmac, randomUUID } from 'node:crypto';

const body = JSON.stringify({ hello: 'world' });
const [id, now] = [\`msg_\${randomUUID()}\`, String(Math.floor(Date.now() / 1000))];
const key = Buffer.from('${secret}'.slice('whsec_'.length), 'base64');
const mac = createHmac('sha256', key).update(\`\${id}.\${now}.\${body}\`).digest('base64');
const answer = await fetch('${address}', {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': now,
    'webhook-signature': \`v1,\${mac}\`,
  },
  body,
});
console.log(await answer.json());`,
};

/** @param secret the signing secret; null returns a sample without a signature */
export function sampleOf(language: SampleLanguage, address: string, secret: string | null): string {
  return secret === null ? plain[language](address) : signed[language](address, secret);
}
