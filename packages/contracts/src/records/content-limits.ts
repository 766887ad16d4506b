/** How much a request may hold, as the operator has set it (docs/operations.md, "Limits"). Sizes in bytes of UTF-8. */
export interface ContentLimits {
  /** An execution's input as JSON. */
  readonly inputBytes: number;
  /** An instance's state as JSON. */
  readonly stateBytes: number;
  /** Input, changes and result of a journal entry, as JSON. */
  readonly entryBytes: number;
  /** A `promptSeed` or `behaviorPrompt`. */
  readonly promptBytes: number;
  readonly descriptionBytes: number;
  /** Tags of a world. */
  readonly domainTags: number;
  /** Unicode characters of a tag. */
  readonly domainTagCharacters: number;
  readonly bindingsPerDeployment: number;
}

const KIB = 1024;

/** Without a word of the operator. */
export const DEFAULT_CONTENT_LIMITS: ContentLimits = {
  inputBytes: 64 * KIB,
  stateBytes: 64 * KIB,
  entryBytes: 256 * KIB,
  promptBytes: 32 * KIB,
  descriptionBytes: 4 * KIB,
  domainTags: 32,
  domainTagCharacters: 64,
  bindingsPerDeployment: 200,
};

/**
 * The most that an operator may set. The schemas of requests refuse what is beyond these; services refuse what is beyond
 * their configuration. An entry travels as one message of the bus, which holds its changes twice (NATS: 1 MiB); lists of
 * 100 states fit into one reply (32 MiB).
 */
export const MOST_CONTENT: ContentLimits = {
  inputBytes: 128 * KIB,
  stateBytes: 128 * KIB,
  entryBytes: 256 * KIB,
  promptBytes: 128 * KIB,
  descriptionBytes: 64 * KIB,
  domainTags: 256,
  domainTagCharacters: 255,
  bindingsPerDeployment: 1000,
};

/** Bytes that the short fields of a body take as JSON beside its large ones: a name, keys, flags. */
const SHORT_FIELDS_BYTES = 4 * KIB;
const BYTES_PER_CHARACTER = 4;

/** Bytes of a body with a name, a description and a few short fields. */
export const namedBytes = ({ descriptionBytes }: ContentLimits): number =>
  descriptionBytes + SHORT_FIELDS_BYTES;

/** Bytes of a world's body. */
export const worldBytes = (limits: ContentLimits): number =>
  namedBytes(limits) +
  limits.promptBytes +
  limits.domainTags * limits.domainTagCharacters * BYTES_PER_CHARACTER;
