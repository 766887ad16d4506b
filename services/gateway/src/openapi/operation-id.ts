/** What the document calls an operation: `worlds.create` is `worldsCreate`. */
export const operationId = (name: string): string =>
  name.replaceAll(/\.(\w)/g, (_dot, letter: string) => letter.toUpperCase());
