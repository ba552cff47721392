/** Images that the files of the production edition name. Pure. */

export interface ImageReference {
  /** Such as `postgres` or `ghcr.io/versity/versitygw`. */
  readonly name: string;
  readonly tag: string;
  /** Such as `sha256:…`; `undefined` if the image is not pinned. */
  readonly digest: string | undefined;
}

const lines =
  /^(\s*image:\s+|FROM\s+|ARG\s+\w+_IMAGE=)([a-z0-9][^\s:@]*):([\w.-]+)(?:@(sha256:[0-9a-f]{64}))?(?=\s|$)/gm;
/** Images with these prefixes are built here. */
const own = /^script-orchestration-/;

/** The images of a compose file or a Dockerfile, except those that it builds. */
export function imageReferences(text: string): readonly ImageReference[] {
  return [...text.matchAll(lines)].flatMap(([, , name = '', tag = '', digest]) =>
    own.test(name) ? [] : [{ name, tag, digest }],
  );
}

/** The text with a digest after every image. Tags are kept for readability.
 *  @param digests by name and tag, such as `postgres:18`; other images are unchanged */
export function withDigests(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replace(lines, (line, start: string, name: string, tag: string) => {
    const digest = digests.get(`${name}:${tag}`);
    return digest === undefined ? line : `${start}${name}:${tag}@${digest}`;
  });
}
