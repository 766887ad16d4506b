/** CPU milliseconds that this process spends on `work`: other processes of a busy machine do not count. */
export function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
