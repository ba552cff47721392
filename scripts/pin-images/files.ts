/** Files of the production edition that name images, and those images that are not pinned. */

export const imageFiles: readonly string[] = [
  'compose.yaml',
  'infra/deploy/docker/Dockerfile',
  'infra/deploy/helm/values.yaml',
];

/** Images whose digests are not known for sure yet, such as `postgres:18`: `make pin-images` asks for them. */
export const notYetPinned: readonly string[] = [];
