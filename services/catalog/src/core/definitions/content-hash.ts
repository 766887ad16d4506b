import { canonicalHash, canonicalJson, type JsonValue } from '@orrery/contracts';

/** For records that came from JSON: their interfaces lack the index signature that `JsonValue` requires. */
const asJson = (content: object): JsonValue => content as unknown as JsonValue;

/** SHA-256 over the RFC 8785 JSON of a record. */
export const contentHash = (content: object): string => canonicalHash(asJson(content));

/** Bytes of the RFC 8785 JSON of a record. */
export const contentBytes = (content: object): number => Buffer.byteLength(canonicalJson(asJson(content)));
