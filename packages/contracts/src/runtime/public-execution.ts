import { z } from 'zod';
import { walletAddress, walletSignature } from '../identity/wallets.js';
import { jsonObject } from '../json/json-schemas.js';
import { deploymentInPath, eventInPath } from '../names/names.js';
import { type ContentLimits, namedBytes } from '../records/content-limits.js';
import { name } from '../records/fields.js';
import { operationsAt } from '../rpc/operation.js';
import { defineContract, rpc } from '../rpc/rpc.js';
import {
  acceptedExecution,
  executedEvent,
  executionAnswer,
  executionId,
  executionRecord,
  executionRpcs,
} from './execution.js';

/** The fixed first part of every text that a wallet signs for an execution. */
export const MESSAGE_PREFIX = 'orrery:';

/** An event name has up to 255 characters of any script. */
export const signedMessage = z
  .string()
  .min(1)
  .max(1024)
  .meta({
    id: 'SignedMessage',
    description:
      '`orrery:{deploymentAddress}:{eventName}:{timestamp}`. The timestamp has 13 digits (milliseconds) or 10 (seconds), or ' +
      'is RFC 3339; unless the operator says otherwise it is at most 5 minutes old and 60 seconds ahead.',
    example: `${MESSAGE_PREFIX}0x${'4f'.repeat(20)}:finishRace:1763976600000`,
  });

/** A version of the x402 protocol. */
const x402Version = z.union([z.literal(1), z.literal(2)]);

/** A payment as its header holds it, decoded. The runtime checks what it says. */
export const offeredPayment = z.object({ version: x402Version, payload: jsonObject });
export type OfferedPayment = z.infer<typeof offeredPayment>;

/**
 * How a payment ended, in the form that the x402 version of the payment has for it: what the gateway encodes in
 * `X-PAYMENT-RESPONSE` (version 1) or `PAYMENT-RESPONSE` (version 2).
 */
export const settlementResponse = z.object({ version: x402Version, response: jsonObject });
export type SettlementResponse = z.infer<typeof settlementResponse>;

/**
 * The facts of a 402. `accepts` are the requirements of x402 version 1, which stand in the body; `paymentRequired` is the
 * whole object of version 2, which the gateway encodes in the header `PAYMENT-REQUIRED`.
 */
export const paymentDemand = z.object({ accepts: z.array(jsonObject), paymentRequired: jsonObject });
export type PaymentDemand = z.infer<typeof paymentDemand>;

/** What may be refused before anything is read, and what an execution may fail with. */
const refusals = [
  'invalid_signature',
  'signature_required',
  'unknown_chain',
  'message_mismatch',
  'message_expired',
  'message_already_used',
  'invalid_payment',
  'payment_required',
  'payment_refused',
  'payment_already_used',
  'idempotency_key_reused',
  'pay_to_address_missing',
  'deployment_not_public',
  'event_not_public',
] as const;
const executionErrors = executionRpcs['deployments.execute'].errors.filter(
  (code) => code !== 'idempotency_key_reused',
);

export const publicExecutionRpcs = {
  /**
   * Executes an event for a wallet, once for its message. The caller of the call is the wallet, whose signature over
   * `message` the gateway has verified; everything else is checked here. A repetition gets the stored outcome, or
   * `request_in_flight` while there is none; with another input it is `message_already_used`. Without a message the caller is
   * anonymous until its payment is verified, where the event allows that: then it is the payer, and the payment is used once.
   */
  'executions.public': rpc({
    errors: ['forbidden', ...refusals, ...executionErrors],
    request: z.object({
      /** Its numeric id or its address. */
      deployment: z.string().min(1).max(64),
      event: name,
      input: jsonObject,
      message: signedMessage.nullable().default(null),
      payment: offeredPayment.nullable().default(null),
      /** The address of the call, as x402 names what is paid for. */
      resource: z.url(),
      /** The call came to the event's own address: it is named in place of `resource`, with the extensions of x402. */
      atEvent: z.boolean().default(false),
      /** Waits for a run that the same message began, in place of `request_in_flight`. */
      awaitsRun: z.boolean().default(false),
    }),
    /**
     * A run that has just begun is told only to a caller that does not wait for it (`leavesRun`); one whose payment is
     * unclear to every caller.
     */
    reply: z.strictObject({
      data: z.union([executionAnswer, acceptedExecution]),
      payment: settlementResponse.nullable().default(null),
    }),
  }),
};

const address = z
  .string()
  .max(64)
  .describe(deploymentInPath.description ?? '');

/** Of a contract account: far more than a key's. */
const SIGNATURE_BYTES = 8192;

const DEPLOYMENT = '/app/deployments/:address';
const publicly = { access: { scope: 'none', relation: 'public' } } as const;

export const publicExecutionReadRpcs = {
  'executions.getPublic': operationsAt(`${DEPLOYMENT}/executions/:executionId`, 'Public execution', {
    ...publicly,
    params: z.strictObject({ address, executionId }),
  }).read('', 'Get the status of a public execution, by the id that its caller was told', {
    errors: ['execution_not_found'],
    data: executionRecord,
  }),
};

const SIGNED = ['wallet', 'message', 'signature'] as const;

/** A signed execution, or one whose payer is the caller. */
const publicBody = <E extends z.ZodRawShape>(event: E) =>
  z
    .strictObject({
      ...event,
      input: executedEvent.input,
      wallet: walletAddress.optional().describe('The wallet that has signed.'),
      signature: walletSignature.optional().describe('Its signature over `message`.'),
      message: signedMessage.optional().describe('The text that was signed; it runs once, with one input.'),
    })
    .superRefine((body, context) => {
      const missing = SIGNED.filter((member) => body[member as keyof typeof body] === undefined);
      if (missing.length === SIGNED.length) return;
      for (const member of missing)
        context.addIssue({
          code: 'custom',
          path: [member],
          message: 'A signed execution has a wallet, a message and a signature.',
        });
    });

const EXECUTE = {
  http: {
    bodyBytes: (limits: ContentLimits) => limits.inputBytes + namedBytes(limits) + SIGNATURE_BYTES,
    signed: true as const,
    accepted: { data: [acceptedExecution], is: (data: Record<string, unknown>) => 'executionId' in data },
    location: (
      { params }: { params: Record<string, string> },
      { executionId: id }: Record<string, unknown>,
    ) => (id === undefined ? undefined : `/app/deployments/${params['address']}/executions/${String(id)}`),
  },
  headers: z.strictObject({
    'x-payment': z.string().optional().meta({
      maxLength: 8192,
      description: 'A payment by version 1 of x402: base64 of its JSON, 8 KiB at most.',
    }),
    'payment-signature': z.string().optional().meta({
      maxLength: 8192,
      description: 'A payment by version 2 of x402: base64 of its JSON, 8 KiB at most.',
    }),
  }),
  data: z
    .union([executionAnswer, acceptedExecution])
    .describe('What was committed, or, while nobody can tell whether the payment was charged, where to ask.'),
};

/** Answered by the gateway itself, which verifies the signature and codes the payment headers. */
export const publicContract = defineContract('gateway', {
  'public.execute': operationsAt(DEPLOYMENT, 'Public execution', {
    ...publicly,
    params: z.strictObject({ address }),
  }).write('POST', '/execute', 'Execute an event with a signed message', {
    ...EXECUTE,
    errors: [...refusals, ...executionErrors],
    body: publicBody({ event: executedEvent.event }).meta({
      id: 'PublicExecuteRequest',
      description: 'An execution that a wallet has signed, or that its payer calls.',
    }),
  }),
  'public.executeEvent': operationsAt(`${DEPLOYMENT}/events/:event`, 'Public execution', {
    ...publicly,
    params: z.strictObject({ address, event: eventInPath }),
  }).write('POST', '/execute', 'Execute the event of this address, signed or paid for', {
    ...EXECUTE,
    errors: [...refusals, 'conflicting_fields', ...executionErrors],
    body: publicBody({
      event: executedEvent.event.optional().describe('Name of the event, the same as in the path.'),
    }).meta({
      id: 'EventExecuteRequest',
      description: 'An execution of the event in the path, that a wallet has signed or that its payer calls.',
    }),
  }),
});
