import { access } from 'node:fs/promises';
import { join } from 'node:path';

export interface PaymentFacts {
  readonly payments: {
    readonly facilitatorUrl: string;
    readonly accepts: readonly { readonly network: string; readonly name: string }[];
  };
  /** The value of PAYMENTS_FILE. */
  readonly paymentsFile: string | undefined;
  readonly dataDirectory: string;
}

/** What the start says about payments: in what they are taken, by whom, for whom, and what a newcomer would overlook. */
export async function paymentsNotice(facts: PaymentFacts): Promise<string[]> {
  const { facilitatorUrl, accepts } = facts.payments;
  const isOperators = facts.paymentsFile !== undefined;
  const names = [...new Set(accepts.map(({ name, network }) => `${name} on ${network}`))].join(', ');
  return [
    isOperators
      ? `${names}, through ${serverOf(facilitatorUrl)}`
      : `test networks: ${names}, through ${facilitatorUrl}`,
    'to the payToAddress of each deployment; PAYMENTS_FILE says otherwise (docs/payments.md)',
    ...(await overlooked(facts)),
  ];
}

/** Providers put keys into user names, paths and queries, so only the server of an operator's address is shown. */
function serverOf(address: string): string {
  const { origin, href } = new URL(address);
  return href === `${origin}/` ? origin : `${origin}/…`;
}

async function overlooked({ payments, paymentsFile, dataDirectory }: PaymentFacts): Promise<string[]> {
  if (paymentsFile !== undefined)
    return (await isSilent(payments.facilitatorUrl))
      ? [
          `Nothing answers at ${serverOf(payments.facilitatorUrl)}: run \`npm run local-payments\` again, and start anew`,
        ]
      : [];
  const local = join(dataDirectory, 'payments.json');
  const isThere = await access(local).then(
    () => true,
    () => false,
  );
  return isThere ? [`${local} is not used: PAYMENTS_FILE=${local} npm start uses it`] : [];
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/;
/** Milliseconds that a start waits for a facilitator of this machine that hangs; one that is gone refuses at once. */
const PATIENCE_MS = 3000;

/** Whether a facilitator of this machine is gone. Others are not asked: no start depends on the internet. */
async function isSilent(facilitatorUrl: string): Promise<boolean> {
  if (!LOOPBACK.test(new URL(facilitatorUrl).hostname)) return false;
  const answered = await fetch(facilitatorUrl, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(
    async (answer) => {
      await answer.body?.cancel();
      return true;
    },
    () => false,
  );
  return !answered;
}
