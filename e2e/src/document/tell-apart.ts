/** Two values of one class keep or break every schema of a document alike. */
export type TellApart = (value: unknown) => string;

interface Keywords {
  /** Properties that a schema names. */
  readonly names: Set<string>;
  /** What `enum` and `const` name. */
  readonly values: Set<unknown>;
  readonly patterns: Set<string>;
  /** Bounds of numbers, lengths and counts, whichever of them. */
  readonly bounds: Set<number>;
}

/** Keywords that read more of a value than its class keeps. */
const BEYOND = ['uniqueItems', 'contains', 'prefixItems', 'multipleOf', 'minProperties', 'maxProperties'];

/**
 * Tells values apart by what the document's schemas can ask of them: named properties, enumerated values, patterns, bounds
 * and types. Nothing else of a value decides whether it is valid. A format counts by the pattern that stands beside it.
 */
export function tellApartBy(document: unknown): TellApart {
  const known: Keywords = { names: new Set(), values: new Set(), patterns: new Set(), bounds: new Set() };
  collect(document, known);
  const patterns = [...known.patterns].map((pattern) => new RegExp(pattern, 'u'));
  const bounds = [...known.bounds];
  const short = shortener();
  const rank = remembering((value: number) => bounds.map((bound) => Math.sign(value - bound)).join());
  const ofText = remembering((text: string) => {
    if (known.values.has(text)) return JSON.stringify(text);
    const matched = patterns.map((pattern) => Number(pattern.test(text))).join('');
    return short(`${matched} ${rank([...text].length)}`);
  });
  const ofNumber = (value: number) =>
    known.values.has(value) ? String(value) : short(`${Number.isInteger(value)} ${rank(value)}`);
  const ofMembers = (members: string[]) => short([...new Set(members)].sort().join());
  const tell: TellApart = (value) => {
    if (typeof value === 'string') return `text ${ofText(value)}`;
    if (typeof value === 'number') return `number ${ofNumber(value)}`;
    if (Array.isArray(value)) return `array ${short(rank(value.length))} ${ofMembers(value.map(tell))}`;
    if (typeof value !== 'object' || value === null) return String(value);
    const members = Object.entries(value).map(
      ([name, member]) => `${known.names.has(name) ? `named ${name}` : ofText(name)}: ${tell(member)}`,
    );
    return `object ${ofMembers(members)}`;
  };
  return tell;
}

function collect(part: unknown, known: Keywords): void {
  if (typeof part !== 'object' || part === null) return;
  for (const [keyword, value] of Object.entries(part)) {
    if (BEYOND.includes(keyword)) throw new RangeError(`values cannot be told apart by ${keyword}`);
    if (keyword === 'properties') for (const name of Object.keys(value)) known.names.add(name);
    if (keyword === 'const') known.values.add(value);
    if (keyword === 'enum' && Array.isArray(value)) for (const one of value) known.values.add(one);
    if (keyword === 'pattern' && typeof value === 'string') known.patterns.add(value);
    if (/^(min|max|exclusiveM)/.test(keyword) && typeof value === 'number') known.bounds.add(value);
    collect(value, known);
  }
}

/** Gives the same short name to the same text. */
function shortener(): (text: string) => string {
  const names = new Map<string, string>();
  return (text) => {
    const name = names.get(text) ?? `#${names.size}`;
    names.set(text, name);
    return name;
  };
}

function remembering<T>(compute: (value: T) => string): (value: T) => string {
  const known = new Map<T, string>();
  return (value) => {
    const result = known.get(value) ?? compute(value);
    known.set(value, result);
    return result;
  };
}
