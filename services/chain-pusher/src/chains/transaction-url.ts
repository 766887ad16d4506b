/** `explorerUrl` may hold `{transaction}`; otherwise `/tx/…` is added to it. Null without an explorer. */
export const transactionUrl = (explorerUrl: string | undefined, transaction: string): string | null => {
  if (explorerUrl === undefined) return null;
  return explorerUrl.includes('{transaction}')
    ? explorerUrl.replace('{transaction}', transaction)
    : `${explorerUrl.replace(/\/$/, '')}/tx/${transaction}`;
};
