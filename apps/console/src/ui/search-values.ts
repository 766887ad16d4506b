/** A name in a page's address: one of digits alone comes out of it as a number. */
export function nameIn(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** The number of a list's page, from the second on: the first one is not in the address. */
export const pageIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) > 1 ? Number(value) : undefined;

/** One of some words. */
export const wordIn = <W extends string>(value: unknown, words: readonly W[]): W | undefined =>
  words.find((word) => word === value);

/** Without the members that are undefined, so that the address does not hold them. */
export const defined = <T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
