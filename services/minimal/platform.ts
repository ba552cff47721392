/** Says why the service cannot run on a platform; undefined where it can. */
export function platformProblem(platform: string, architecture: string): string | undefined {
  if (platform === 'linux' && ['x64', 'arm64'].includes(architecture)) return undefined;
  const found = `this is ${platform} on ${architecture}`;
  return `The service runs on Linux, x86-64 or arm64; ${found}. A container or a virtual machine with Linux will do.`;
}
