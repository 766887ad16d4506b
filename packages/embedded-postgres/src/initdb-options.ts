/** Debian and its like bring `C.UTF-8`; elsewhere PostgreSQL's own provider sorts and folds the same way. */
const locale =
  process.platform === 'linux'
    ? ['--locale=C.UTF-8']
    : ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/** No password: only the folder's owner reaches the socket. */
export const INITDB_OPTIONS = [
  '--username=orrery',
  '--auth=trust',
  '--encoding=UTF8',
  '--no-instructions',
  ...locale,
];
