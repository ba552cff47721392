/** Returns why the service cannot run on a platform, or undefined if the platform is supported. */
export function platformProblem(platform: string, architecture: string): string | undefined {
  if (platform === 'linux' && ['x64', 'arm64'].includes(architecture)) return undefined;
  const found = `this is ${platform} on ${architecture}`;
  return `The service requires Linux on x86-64 or arm64; ${found}. Use a Linux container or virtual machine.`;
}
