/** What a part of a pattern becomes: its instructions, and how many ranges of characters all of them have together. */
interface Part {
  readonly size: number;
  readonly ranges: number;
}

const NOTHING: Part = { size: 0, ranges: 0 };
const ONE: Part = { size: 1, ranges: 1 };

const together = (a: Part, b: Part): Part => ({ size: a.size + b.size, ranges: a.ranges + b.ranges });

/** Each copy costs the instruction, too, that repeats or leaves it out. */
const repeated = ({ size, ranges }: Part, times: number): Part => ({
  size: times * (size + 1),
  ranges: times * ranges,
});

/** A group whose end is not reached yet. */
interface OpenGroup {
  readonly before: Part;
  readonly last: Part;
}

/** Units of about 10 ns, measured on the engine: an instruction, once compiled and once made ready to run. */
const INSTRUCTION = 100;
/** A range of characters of an instruction: it is read again for each copy. */
const RANGE = 1;
/** A range of a class as it is written: it is added to those before and sorted among them; `i` adds its other cases. */
const READ_RANGE = 20;
const READ_FOLDED_RANGE = 25;
/** With `i` each character of a range is looked up. */
const FOLDED_CHARACTER = 3;

/** The ranges of those Unicode classes that have many; the others have up to 250. */
const LARGE_CLASSES: ReadonlyMap<string, number> = new Map([
  ...'C Cn Assigned L Lu Ll LC Lc'.split(' ').map((name): [string, number] => [name, 750]),
  ['Lo', 550],
  ['M', 400],
  ['Mn', 400],
]);
const OTHER_CLASS = 250;
/** The classes `\d`, `\W`, `[:alpha:]`: with `i` each of their letters is looked up. */
const SMALL_CLASS = 8;
const FOLDED_SMALL_CLASS = 50;
/** Classes together: what they share is one range. */
const MOST_RANGES = 1_500;

const ESCAPED = /\\x\{([\dA-Fa-f]+)\}|\\x([\dA-Fa-f]{2})|\\([0-7]{1,3})|\\(.?)/suy;
const UNICODE_CLASS = /\\[pP](?:\{\^?([^}]*)\}|(.))/suy;
const SMALL = /\\[dDsSwW]|\[:\^?\w*:\]/y;
const QUOTED = /\\Q(.*?)(?:\\E|$)/sy;
const GROUP_HEAD = /\(\?P?<[^>]*>|\(\?[a-zA-Z-]*:|\((?!\?)/y;
const FLAGS = /\(\?[a-zA-Z-]*\)?/y;
const COUNT = /\{(\d{1,8})(,(\d{0,8}))?\}/y;

/**
 * Reads a pattern once, in time that grows with its length, before anything is compiled: each repetition writes out copies of
 * what it repeats, and one class of a few characters may have hundreds of ranges. It is never less than what compiling and
 * preparing the pattern takes; whether the pattern is valid is for the engine to say.
 */
class PatternReader {
  readonly #source: string;
  readonly #folds: boolean;
  readonly #open: OpenGroup[] = [];
  #at = 0;
  #reading = 0;
  /** Of the group being read: what stands before its last part, and that part, which a repetition takes. */
  #before = NOTHING;
  #last = NOTHING;
  isClosed = true;

  constructor(source: string) {
    this.#source = source;
    this.#folds = /\(\?[a-zA-Z-]*i/.test(source);
    while (this.#at < source.length) this.#step();
    if (this.#open.length > 0) this.isClosed = false;
    while (this.#open.length > 0) this.#close();
  }

  get cost(): number {
    const { size, ranges } = together(this.#before, this.#last);
    return this.#reading + size * INSTRUCTION + ranges * RANGE;
  }

  #take(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at;
    const found = form.exec(this.#source);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  #add(part: Part): void {
    this.#before = together(this.#before, this.#last);
    this.#last = part;
  }

  #step(): void {
    const character = this.#source[this.#at] ?? '';
    if (character === '(') this.#openGroup();
    else if (character === ')') this.#close();
    else if (character === '[') this.#readClass();
    else if (character === '{') this.#count();
    else if ('*+?'.includes(character)) this.#repeat();
    else this.#readText();
  }

  #repeat(): void {
    this.#at += 1;
    this.#last = repeated(this.#last, 1);
  }

  #openGroup(): void {
    if (this.#take(GROUP_HEAD) === null) {
      this.#take(FLAGS);
      return;
    }
    this.#open.push({ before: together(this.#before, this.#last), last: NOTHING });
    this.#before = { size: 2, ranges: 0 };
    this.#last = NOTHING;
  }

  #close(): void {
    this.#at += 1;
    const group = this.#open.pop();
    if (group === undefined) {
      this.isClosed = false;
      return;
    }
    this.#last = together(this.#before, this.#last);
    this.#before = group.before;
  }

  #count(): void {
    const found = this.#take(COUNT);
    if (found === null) {
      this.#at += 1;
      this.#add(ONE);
    } else this.#last = repeated(this.#last, Math.max(1, Number(found[1]), Number(found[3] ?? 0)));
  }

  /** A character outside of classes, `|` too: it is an instruction. */
  #readText(): void {
    const quoted = this.#isEscape() ? this.#take(QUOTED) : null;
    if (quoted === null) {
      const ranges = this.#readNamedClass();
      if (ranges === undefined) this.#readCharacter();
      this.#add({ size: 1, ranges: ranges ?? 1 });
      return;
    }
    if (!quoted[0].endsWith('\\E')) this.isClosed = false;
    for (const _ of quoted[1] ?? '') this.#add(ONE);
  }

  #isEscape(): boolean {
    return this.#source[this.#at] === '\\';
  }

  /** The ranges of a class that has a name; undefined: none begins here. */
  #readNamedClass(): number | undefined {
    if (!this.#isEscape() && !this.#source.startsWith('[:', this.#at)) return undefined;
    const unicode = this.#take(UNICODE_CLASS);
    if (unicode === null && this.#take(SMALL) === null) return undefined;
    const name = unicode?.[1] ?? unicode?.[2];
    const small = this.#folds ? FOLDED_SMALL_CLASS : SMALL_CLASS;
    const ranges = name === undefined ? small : (LARGE_CLASSES.get(name) ?? OTHER_CLASS);
    this.#reading += ranges * (this.#folds ? READ_FOLDED_RANGE : READ_RANGE);
    return ranges;
  }

  #readClass(): void {
    this.#at += 1;
    if (this.#source[this.#at] === '^') this.#at += 1;
    let ranges = 1;
    let isFirst = true;
    while (this.#at < this.#source.length && (isFirst || this.#source[this.#at] !== ']')) {
      isFirst = false;
      ranges += this.#readNamedClass() ?? this.#readRange();
    }
    this.#at += 1;
    this.#add({ size: 1, ranges: Math.min(ranges, MOST_RANGES) });
  }

  /** `a`, or `a-z`: one range, and up to three more for each character where `i` adds other cases. */
  #readRange(): number {
    const from = this.#readCharacter();
    const isRange = this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']';
    if (isRange) this.#at += 1;
    const characters = isRange ? Math.max(1, this.#readCharacter() - from + 1) : 1;
    const ranges = this.#folds ? Math.min(4 * characters, 250) : 1;
    this.#reading += ranges * READ_RANGE + (this.#folds ? characters * FOLDED_CHARACTER : 0);
    return ranges;
  }

  #readCharacter(): number {
    if (!this.#isEscape()) {
      const code = this.#source.codePointAt(this.#at) ?? 0;
      this.#at += code > 0xffff ? 2 : 1;
      return code;
    }
    const [, braced, hex, octal, text] = this.#take(ESCAPED) ?? [];
    if (braced !== undefined || hex !== undefined) return Number.parseInt(braced ?? hex ?? '', 16);
    return octal === undefined ? (text?.codePointAt(0) ?? 0) : Number.parseInt(octal, 8);
  }
}

/** What compiling a pattern takes at most, in units of about 10 ns; `isClosed`: its groups and quotes end, none too early. */
export function readPattern(source: string): Pick<PatternReader, 'cost' | 'isClosed'> {
  return new PatternReader(source);
}
