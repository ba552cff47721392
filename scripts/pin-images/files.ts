/** Lists the production edition's files that name images, and the images that are not pinned yet. */

export const imageFiles: readonly string[] = [
  'compose.yaml',
  'infra/deploy/docker/Dockerfile',
  'infra/deploy/helm/values.yaml',
];

/** Images whose digests are unknown, such as `postgres:18`. `make pin-images` looks up their digests. */
export const notYetPinned: readonly string[] = [];
