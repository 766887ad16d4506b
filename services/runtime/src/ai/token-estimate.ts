/** No tokenizer needs more tokens for a text than a third of its bytes, as far as common ones and texts go. */
export const BYTES_PER_TOKEN = 3;

/**
 * Tokens that a text takes at most, roughly: its UTF-8 bytes / 3. Tokenizers were seen to take minutes for hostile texts,
 * so none is used; what a call costs is counted by the server's own `usage`.
 */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

/** Tokens that one answer may have at most. */
const MAX_OUTPUT_TOKENS = 8192;

/** Tokens that one answer of a model may have: a quarter of its context, at most 8,192. */
export const outputLimitOf = (contextLength: number): number =>
  Math.max(1, Math.min(MAX_OUTPUT_TOKENS, Math.floor(contextLength / 4)));
