import type { Command } from 'commander';
import type { CommandContext } from '../command-context.js';
import { createWalletFile } from './wallet-file.js';

/** `orrery wallets create`: a key file for `orrery public execute`. */
export function addWalletsCommands(program: Command, { write }: CommandContext): void {
  program
    .command('wallets')
    .description('create wallets that sign public executions')
    .command('create <file>')
    .description('create a wallet, in the key file format of Solana’s tools')
    .action(async (file: string) => write((await createWalletFile(file)).address));
}
