/** Files of the production edition that name images, and those images that are not pinned. */

export const imageFiles: readonly string[] = [
  'compose.yaml',
  'infra/deploy/docker/Dockerfile',
  'infra/deploy/helm/values.yaml',
];

/** Images without known digests, such as `postgres:18`: `make pin-images` requests them. */
export const notYetPinned: readonly string[] = [];
