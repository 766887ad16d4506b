declare module 'virtual:example-worlds' {
  const worlds: readonly import('./load-example.js').ExampleWorld[];
  export default worlds;
}
