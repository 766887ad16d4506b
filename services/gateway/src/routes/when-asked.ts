/** Makes a value when it is first asked for, and keeps it: writing the document takes longer than all else of a start. */
export function whenAsked<T extends object | string>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
