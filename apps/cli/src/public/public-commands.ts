import { isJsonObject } from '@orrery/contracts';
import { StartupError } from '@orrery/service-kit';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../command-context.js';
import { readDocument } from '../documents/read-document.js';
import { urlOf } from '../server/find-server.js';
import { readWalletFile } from '../wallets/wallet-file.js';
import { executePublicly } from './execute-publicly.js';
import { createPayer } from './payer.js';

interface ExecuteOptions {
  url?: string;
  deployment: string;
  event: string;
  input: string;
  wallet: string;
  pay: boolean;
  maxUsd: number;
  evmKey?: string;
  solanaRpc?: string;
}

/** `orrery public execute`: what anyone with a wallet may do, so it needs no key of the service. */
export function addPublicCommands(program: Command, context: CommandContext): void {
  program
    .command('public')
    .description('execute public events with a wallet')
    .command('execute')
    .description('sign and send one execution, and pay for it if asked to')
    .requiredOption('--deployment <address>', 'address of the deployment', deploymentAddress)
    .requiredOption('--event <name>', 'the event to execute')
    .option('--input <file|json>', 'the event’s input, in JSON or YAML', '{}')
    .requiredOption('--wallet <file>', 'key file, as `orrery wallets create` writes it')
    .option('--pay', 'pay the price, if there is one', false)
    .option('--max-usd <amount>', 'the most to pay, in US dollars', dollars, 1)
    .option('--evm-key <file>', 'private key that pays, on EVM chains; without it the wallet pays, on Solana')
    .option('--solana-rpc <url>', 'node of Solana that the payment is made with')
    .option('--url <url>', 'address of the server (ORRERY_URL); by default the all-in-one of this folder')
    .action(async ({ wallet: file, pay, maxUsd, evmKey, solanaRpc, ...request }: ExecuteOptions) => {
      const wallet = await readWalletFile(file);
      const options = { wallet, evmKeyFile: evmKey, solanaRpc, maxUsd };
      const payer = pay ? await createPayer(options) : undefined;
      const url = await urlOf(request, context);
      const input = await readDocument(request.input);
      if (!isJsonObject(input))
        throw new StartupError('The input is no object: {"winner":"HORSE_1"} is one.');
      const { settlement, ...answer } = await executePublicly({ ...request, input, url, wallet, payer });
      context.write(JSON.stringify(answer, null, 2));
      if (settlement !== null) context.write(`paid: ${JSON.stringify(settlement)}`);
    });
}

/** The server compares it with the signed text, which holds lower-case letters. */
function deploymentAddress(text: string): string {
  if (!/^0x[0-9a-f]{40}$/i.test(text))
    throw new InvalidArgumentError('The address has 0x and 40 hex digits; it is signed.');
  return text.toLowerCase();
}

function dollars(text: string): number {
  const amount = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && amount > 0) return amount;
  throw new InvalidArgumentError('A number above 0 is required.');
}
