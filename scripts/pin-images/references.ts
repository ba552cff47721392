/** Finds images in the production edition's files. All functions are pure. */

export interface ImageReference {
  /** For example, `postgres` or `ghcr.io/versity/versitygw`. */
  readonly name: string;
  readonly tag: string;
  /** For example, `sha256:…`. `undefined` if the image is not pinned. */
  readonly digest: string | undefined;
}

const lines =
  /^(\s*image:\s+|FROM\s+|ARG\s+\w+_IMAGE=)([a-z0-9][^\s:@]*):([\w.-]+)(?:@(sha256:[0-9a-f]{64}))?(?=\s|$)/gm;
/** Images with these prefixes are built from this repository. */
const own = /^script-orchestration-/;

/** Returns the images in a compose file or a Dockerfile, except those that it builds. */
export function imageReferences(text: string): readonly ImageReference[] {
  return [...text.matchAll(lines)].flatMap(([, , name = '', tag = '', digest]) =>
    own.test(name) ? [] : [{ name, tag, digest }],
  );
}

/** Returns the text with a digest after every image. Tags are kept for readability.
 *  @param digests by name and tag, such as `postgres:18`. Images that are not listed remain unchanged */
export function withDigests(text: string, digests: ReadonlyMap<string, string>): string {
  return text.replace(lines, (line, start: string, name: string, tag: string) => {
    const digest = digests.get(`${name}:${tag}`);
    return digest === undefined ? line : `${start}${name}:${tag}@${digest}`;
  });
}
