/** Host, port and database name of an address, for messages: never the user or the password. */
export function describeAddress(url: string): string {
  try {
    const { hostname, port, pathname, searchParams } = new URL(url);
    const host = decodeURIComponent(hostname) || searchParams.get('host') || 'localhost';
    return `${host}${port === '' ? '' : `:${port}`}${pathname}`;
  } catch {
    return 'the address of DATABASE_URL';
  }
}
