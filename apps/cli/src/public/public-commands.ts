import { isJsonObject } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { type Command, InvalidArgumentError } from 'commander';
import { readDocument } from '../documents/read-document.js';
import { groupOf } from '../operations/operations-commands.js';
import { findDeployment } from '../operations/references.js';
import { askAt } from '../server/ask-server.js';
import { type ServerOptions, serverOf, urlForWallet, withServerOptions } from '../server/find-server.js';
import type { CommandContext } from '../terminal/context.js';
import { readWalletFile } from '../wallets/wallet-file.js';
import { createPayer, executePublicly, type PayerOptions } from './execute-publicly.js';

interface ExecuteOptions extends ServerOptions, PayerOptions {
  deployment: string;
  event: string;
  input: string;
  wallet?: string;
  pay: boolean;
}

/** `orrery public execute`: what anyone with a wallet may do, so it needs no key of the service. */
export function addPublicCommands(program: Command, context: CommandContext): void {
  const execute = groupOf(program, 'public')
    .command('execute')
    .description('sign and send one execution, and pay for it if asked to')
    .requiredOption(
      '--deployment <deployment>',
      'its address; with a key also WORLD/DEPLOYMENT, or one of yours alone',
    )
    .requiredOption('--event <name>', 'the event to execute')
    .option('--input <file|json>', 'the event’s input, in JSON or YAML', '{}')
    .option(
      '--wallet <file>',
      'key file, as `orrery wallets create` writes it, or with a private key; without it the payer is the caller',
    )
    .option('--pay', 'pay the price, if there is one', false)
    .option('--max-usd <amount>', 'the most to pay, in US dollars', dollars, 1)
    .option('--evm-key <file>', 'private key that pays, on EVM chains; without it the wallet pays')
    .option('--solana-rpc <url>', 'node of Solana that the payment is made with');
  withServerOptions(execute).action((options: ExecuteOptions) => runPublicly(options, context));
}

async function runPublicly(options: ExecuteOptions, context: CommandContext): Promise<void> {
  const wallet = options.wallet === undefined ? undefined : await readWalletFile(options.wallet);
  if (wallet === undefined && !options.pay)
    throw new StartupError(
      'Who calls? Add --wallet <file> to sign, or --pay --evm-key <file> where the event lets its payer call.',
    );
  const payer = options.pay ? await createPayer(wallet, options) : undefined;
  const url = await urlForWallet(options, context);
  const deployment = await addressOf(options, context);
  const input = await readDocument(options.input);
  if (!isJsonObject(input)) throw new StartupError('The input is no object: {"winner":"HORSE_1"} is one.');
  const onAwaitingPayment = (executionId: string) =>
    context.note(
      `It is not known yet whether the payment was charged. The execution ${executionId} waits for its chain, a few minutes at most.`,
    );
  const by = wallet?.family === 'solana' ? { publicKey: wallet.address, sign: wallet.sign } : wallet;
  const asked = { deployment, event: options.event, input, by, payer, onAwaitingPayment };
  const { settlement, ...answer } = await executePublicly(url, asked);
  context.write(JSON.stringify(answer, null, 2));
  if (settlement !== null) context.write(`paid: ${JSON.stringify(settlement)}`);
}

/** The address is signed. Strangers know nothing else; who has a key may give a name. */
async function addressOf(
  { deployment, ...options }: ExecuteOptions,
  context: CommandContext,
): Promise<string> {
  // The server compares it with the signed text, which holds lower-case letters.
  if (/^0x[0-9a-f]{40}$/i.test(deployment)) return deployment.toLowerCase();
  const server = await serverOf(options, context).catch((cause: Error) => {
    const advice = `Without a key give the address of the deployment, 0x and 40 hex digits, not "${deployment}".`;
    throw new StartupError(`${cause.message}\n${advice}`, { cause });
  });
  const { worldAddress, address } = await findDeployment(server, deployment);
  const { data } = await askAt(server, 'GET', `/worlds/${worldAddress}/deployments/${address}`);
  return (data as { readonly address: string }).address;
}

function dollars(text: string): number {
  const amount = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && amount > 0) return amount;
  throw new InvalidArgumentError('A number above 0 is required.');
}
