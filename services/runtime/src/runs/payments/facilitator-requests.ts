import { parseJson } from '@orrery/contracts';
import type { SettleResponse, SupportedKind, VerifyResponse } from '@x402/core/types';
import { z } from 'zod';
import type { Payment } from '../../core/payments/payment.js';
import { inItsVersion } from '../../core/payments/requirements.js';
import { boundedFetch } from '../asking/bounded-fetch.js';

/** A facilitator that cannot be asked, or whose answer says nothing. What it has sent may quote the key in its address. */
export class FacilitatorError extends Error {
  override readonly name = 'FacilitatorError';

  /** `status`: of its answer by HTTP; undefined where none came. */
  constructor(
    message: string,
    readonly status: number | undefined,
  ) {
    super(message);
  }
}

/** Bytes of an answer that are read. The kinds of all networks are a longer one. */
const MOST_BYTES = { verify: 64 * 1024, settle: 64 * 1024, supported: 1024 * 1024 };

interface Asked {
  readonly url: string;
  readonly content?: object;
  /** For the whole answer. */
  readonly timeoutMs: number;
}

/**
 * Makes one request as the client of the x402 library does, which reads answers of any length and follows redirects with
 * the signed payment, and takes no `fetch`. `data` is undefined where the body is no JSON.
 * @throws FacilitatorError with the status where the body is too large
 */
export async function askFacilitator(
  operation: keyof typeof MOST_BYTES,
  { url, content, timeoutMs }: Asked,
): Promise<{ readonly status: number; readonly data: unknown }> {
  const ask = boundedFetch(fetch, {
    mostBytes: MOST_BYTES[operation],
    tooLarge: (status) => new FacilitatorError('the facilitator gave an answer that is too large', status),
  });
  const response = await ask(`${url.replace(/\/+$/, '')}/${operation}`, {
    headers: { 'content-type': 'application/json' },
    ...(content !== undefined && { method: 'POST', body: JSON.stringify(content) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { status: response.status, data: jsonOf(await response.text()) };
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** What is sent of a payment, in the version of its payer. */
export function contentOf(payment: Payment): object {
  return { x402Version: payment.x402Version, ...inItsVersion(payment) };
}

/** The library exports no schemas of answers: these are of the fields that are read, by its types. */
type FieldsOf<Answer> = { readonly [Name in keyof Answer]?: z.ZodType<Answer[Name] | undefined> };

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);
const network = z.custom<SettleResponse['network']>((value) => typeof value === 'string');

export const verifyAnswer = z.object({
  isValid: z.boolean(),
  invalidReason: text,
} satisfies FieldsOf<VerifyResponse>);

/** With a status that is no success. */
export const settleRefusal = z.object({
  success: z.boolean(),
  transaction: text,
  errorReason: text,
  errorMessage: text,
} satisfies FieldsOf<SettleResponse>);

export const settleAnswer = settleRefusal.extend({
  transaction: z.string(),
  network,
} satisfies FieldsOf<SettleResponse>);

export type Reply = Partial<z.infer<typeof settleRefusal>>;

export const supportedAnswer = z.object({
  kinds: z.array(
    z.object({
      x402Version: z.number(),
      scheme: z.string(),
      network,
      extra: z.record(z.string(), z.unknown()).nullish(),
    } satisfies Record<keyof SupportedKind, z.ZodType>),
  ),
});
