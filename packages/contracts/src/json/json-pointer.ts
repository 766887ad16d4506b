/** One step further in an RFC 6901 pointer. */
export const childPointer = (parent: string, key: string | number): string =>
  `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** An RFC 6901 pointer from a path of keys, the empty path being the whole document. */
export const toPointer = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (pointer, key) => childPointer(pointer, typeof key === 'symbol' ? String(key) : key),
    '',
  );
