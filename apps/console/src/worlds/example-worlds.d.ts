declare module 'virtual:example-worlds' {
  const worlds: readonly import('./example-world.js').ExampleWorld[];
  export default worlds;
}
