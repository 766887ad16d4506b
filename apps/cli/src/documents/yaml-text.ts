import { StartupError } from '@orrery/service-kit';
import {
  Document,
  isCollection,
  isNode,
  LineCounter,
  parseDocument,
  Scalar,
  type Tags,
  visit,
  type YAMLError,
} from 'yaml';

/** Spellings of numbers that JSON has not: an address such as 0xab… is a text, and infinity is nothing that can be sent. */
const FOREIGN_NUMBERS = ['0xab', '0o17', '.inf', '.nan'];
const jsonNumbers = (tags: Tags): Tags =>
  tags.filter(
    (tag) =>
      typeof tag === 'string' || !('test' in tag) || !FOREIGN_NUMBERS.some((text) => tag.test?.test(text)),
  );

/** A YAML document that was read, and where its parts stand. */
export interface ReadYaml {
  readonly value: unknown;
  /** The line of what a path leads to, from 1; of the nearest part around it where it leads nowhere. */
  lineOf(path: readonly string[]): number;
}

/** Reads a document of YAML 1.2; every JSON text is one. @throws StartupError with the line */
export function readYaml(text: string, what: string): ReadYaml {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { customTags: jsonNumbers, lineCounter, prettyErrors: false });
  const [problem] = document.errors;
  if (problem !== undefined) throw refusalOf(problem, lineCounter, what);
  refuseBareBraces(document, lineCounter, what);
  refuseOtherNumbers(document, lineCounter, what);
  const value = contentOf(document, what);
  return { value, lineOf: (path) => lineOf(document, lineCounter, path) };
}

const BRACES = 'Put a placeholder in quotes: "{{ … }}". Without them its braces are a map.';

function refusalOf({ message, pos }: YAMLError, lines: LineCounter, what: string): StartupError {
  const { line, col } = lines.linePos(pos[0]);
  const [first = ''] = message.split('\n');
  return new StartupError(`${what}, line ${line}, column ${col}: ${adviceOn(first)}`);
}

/** A schedule and a placeholder without quotes are what beginners write. */
function adviceOn(message: string): string {
  if (/^Alias cannot be/.test(message))
    return 'A star begins an alias. Put a text with stars, such as a schedule, in quotes: "0 * * * *".';
  if (/flow map/.test(message)) return `${message.replace(/[.:]?$/, '.')} ${BRACES}`;
  return message.replace(/[.:]?$/, '.');
}

/** To YAML `{{ input.wins }}` is a map whose only key is a map. @throws StartupError with the line */
function refuseBareBraces(document: Document.Parsed, lines: LineCounter, what: string): void {
  visit(document, {
    Pair: (_, { key }) => {
      if (!isCollection(key)) return;
      const { line, col } = lines.linePos(key.range?.[0] ?? 0);
      throw new StartupError(`${what}, line ${line}, column ${col}: ${BRACES}`);
    },
  });
}

/** JSON sends no number such as 1e400, and another whole number than 12345678901234567890. @throws StartupError with the line */
function refuseOtherNumbers(document: Document.Parsed, lines: LineCounter, what: string): void {
  visit(document, {
    Scalar: (_, { value, source = '', range }) => {
      if (typeof value !== 'number' || isSentAs(source, value)) return;
      const { line, col } = lines.linePos(range?.[0] ?? 0);
      const fault = Number.isFinite(value)
        ? `would be sent as ${value}. As a text, in quotes, it stays as it is.`
        : 'is too large.';
      throw new StartupError(`${what}, line ${line}, column ${col}: The number ${source} ${fault}`);
    },
  });
}

/** Whether JSON says of a number what was written, or, where that is no whole number, the nearest one. */
export function isSentAs(source: string, value: number): boolean {
  if (!Number.isFinite(value) || !/^[-+]?\d+$/.test(source)) return Number.isFinite(value);
  return String(value) === source || BigInt(value) === BigInt(source);
}

/** @throws StartupError for aliases that blow up */
function contentOf(document: Document.Parsed, what: string): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    throw new StartupError(`${what} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

function lineOf(document: Document.Parsed, lines: LineCounter, path: readonly string[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    // Positions in a list are numbers.
    const steps = path.slice(0, length).map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    const found = document.getIn(steps, true) ?? document.getIn(path.slice(0, length), true);
    if (isNode(found) && found.range) return lines.linePos(found.range[0]).line;
  }
  return 1;
}

/** Characters of a line, where a text can be folded. */
const LINE_WIDTH = 100;

/** A text in quotes stays on its line: folding loses a line that is a space. */
const NEVER = 1e9;

/**
 * Writes JSON as YAML 1.2 that differs from its next version where the two differ: texts of several lines are literal
 * blocks, long ones are folded. `readYaml` gives the same value again.
 */
export function writeYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (key, node) => {
      const style = key !== 'key' && typeof node.value === 'string' && styleOf(node.value);
      if (style) node.type = style;
    },
  });
  return document.toString({ lineWidth: LINE_WIDTH, doubleQuotedMinMultiLineLength: NEVER });
}

/** Space at the end of a line, or at the very beginning, is not safe in a block. */
const losesSpace = (text: string) => /^\s/.test(text) || /[^\S\n]$/m.test(text);

function styleOf(text: string): Scalar.Type | undefined {
  const isLong = text.length > LINE_WIDTH;
  if (!isLong && !text.includes('\n')) return undefined;
  if (losesSpace(text)) return Scalar.QUOTE_DOUBLE;
  return text.includes('\n') ? Scalar.BLOCK_LITERAL : Scalar.BLOCK_FOLDED;
}
