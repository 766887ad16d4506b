// Written by contracts/compile.js.
export const pushRegistryAbi = [
  {
    inputs: [],
    stateMutability: 'nonpayable',
    type: 'constructor',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'deployment',
        type: 'address',
      },
      {
        internalType: 'uint64',
        name: 'number',
        type: 'uint64',
      },
      {
        internalType: 'bytes32',
        name: 'recorded',
        type: 'bytes32',
      },
    ],
    name: 'DifferentDigest',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'caller',
        type: 'address',
      },
    ],
    name: 'NotOwner',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'caller',
        type: 'address',
      },
    ],
    name: 'NotPusher',
    type: 'error',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'deployment',
        type: 'address',
      },
      {
        internalType: 'uint64',
        name: 'expected',
        type: 'uint64',
      },
      {
        internalType: 'uint64',
        name: 'given',
        type: 'uint64',
      },
    ],
    name: 'OutOfSequence',
    type: 'error',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'address',
        name: 'owner',
        type: 'address',
      },
    ],
    name: 'OwnerChanged',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'address',
        name: 'deployment',
        type: 'address',
      },
      {
        indexed: true,
        internalType: 'uint64',
        name: 'number',
        type: 'uint64',
      },
      {
        indexed: false,
        internalType: 'bytes32',
        name: 'entryHash',
        type: 'bytes32',
      },
      {
        indexed: false,
        internalType: 'bytes32',
        name: 'digest',
        type: 'bytes32',
      },
      {
        indexed: false,
        internalType: 'bytes',
        name: 'data',
        type: 'bytes',
      },
    ],
    name: 'Pushed',
    type: 'event',
  },
  {
    anonymous: false,
    inputs: [
      {
        indexed: true,
        internalType: 'address',
        name: 'pusher',
        type: 'address',
      },
      {
        indexed: false,
        internalType: 'bool',
        name: 'allowed',
        type: 'bool',
      },
    ],
    name: 'PusherChanged',
    type: 'event',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'deployment',
        type: 'address',
      },
      {
        internalType: 'uint64',
        name: 'number',
        type: 'uint64',
      },
    ],
    name: 'digestOf',
    outputs: [
      {
        internalType: 'bytes32',
        name: '',
        type: 'bytes32',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'pusher',
        type: 'address',
      },
    ],
    name: 'isPusher',
    outputs: [
      {
        internalType: 'bool',
        name: '',
        type: 'bool',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'deployment',
        type: 'address',
      },
    ],
    name: 'lastNumber',
    outputs: [
      {
        internalType: 'uint64',
        name: '',
        type: 'uint64',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [],
    name: 'owner',
    outputs: [
      {
        internalType: 'address',
        name: '',
        type: 'address',
      },
    ],
    stateMutability: 'view',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'deployment',
        type: 'address',
      },
      {
        internalType: 'uint64',
        name: 'number',
        type: 'uint64',
      },
      {
        internalType: 'bytes32',
        name: 'entryHash',
        type: 'bytes32',
      },
      {
        internalType: 'bytes32',
        name: 'digest',
        type: 'bytes32',
      },
      {
        internalType: 'bytes',
        name: 'data',
        type: 'bytes',
      },
    ],
    name: 'push',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        components: [
          {
            internalType: 'address',
            name: 'deployment',
            type: 'address',
          },
          {
            internalType: 'uint64',
            name: 'number',
            type: 'uint64',
          },
          {
            internalType: 'bytes32',
            name: 'entryHash',
            type: 'bytes32',
          },
          {
            internalType: 'bytes32',
            name: 'digest',
            type: 'bytes32',
          },
          {
            internalType: 'bytes',
            name: 'data',
            type: 'bytes',
          },
        ],
        internalType: 'struct PushRegistry.Push[]',
        name: 'pushes',
        type: 'tuple[]',
      },
    ],
    name: 'pushMany',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'newOwner',
        type: 'address',
      },
    ],
    name: 'setOwner',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [
      {
        internalType: 'address',
        name: 'pusher',
        type: 'address',
      },
      {
        internalType: 'bool',
        name: 'allowed',
        type: 'bool',
      },
    ],
    name: 'setPusher',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
] as const;

export const pushRegistryBytecode =
  '0x6080604052348015600f57600080fd5b50600080546001600160a01b031916339081178255808252600160208190526040808420805460ff19169092179091555190917fa2ea9883a321a3e97b8266c2b078bfeec6d50c711ed71f874a90d500ae2eaf3691a26040516001815233907ff324b6f645fedbcfae7f2d3d58d2de90e249e76399f929bcfdaa0a022614a4469060200160405180910390a2610a86806100aa6000396000f3fe608060405234801561001057600080fd5b50600436106100885760003560e01c80638da5cb5b1161005b5780638da5cb5b146100db578063d117ca5f14610125578063e15b7c6614610158578063e2a7433f1461019b57600080fd5b806313af40351461008d578063556b76fb146100a257806362460eb6146100b557806378d8571e146100c8575b600080fd5b6100a061009b366004610714565b6101d4565b005b6100a06100b036600461074e565b610299565b6100a06100c33660046107f7565b6102fa565b6100a06100d6366004610833565b6103d7565b6000546100fb9073ffffffffffffffffffffffffffffffffffffffff1681565b60405173ffffffffffffffffffffffffffffffffffffffff90911681526020015b60405180910390f35b610148610133366004610714565b60016020526000908152604090205460ff1681565b604051901515815260200161011c565b610182610166366004610714565b60026020526000908152604090205467ffffffffffffffff1681565b60405167ffffffffffffffff909116815260200161011c565b6101c66101a93660046108aa565b600360209081526000928352604080842090915290825290205481565b60405190815260200161011c565b60005473ffffffffffffffffffffffffffffffffffffffff16331461022c576040517f245aecd30000000000000000000000000000000000000000000000000000000081523360048201526024015b60405180910390fd5b600080547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff8316908117825560405190917fa2ea9883a321a3e97b8266c2b078bfeec6d50c711ed71f874a90d500ae2eaf3691a250565b3360009081526001602052604090205460ff166102e4576040517f31d7f16e000000000000000000000000000000000000000000000000000000008152336004820152602401610223565b6102f286868686868661049e565b505050505050565b60005473ffffffffffffffffffffffffffffffffffffffff16331461034d576040517f245aecd3000000000000000000000000000000000000000000000000000000008152336004820152602401610223565b73ffffffffffffffffffffffffffffffffffffffff821660008181526001602090815260409182902080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff001685151590811790915591519182527ff324b6f645fedbcfae7f2d3d58d2de90e249e76399f929bcfdaa0a022614a446910160405180910390a25050565b3360009081526001602052604090205460ff16610422576040517f31d7f16e000000000000000000000000000000000000000000000000000000008152336004820152602401610223565b60005b818110156104995736838383818110610440576104406108dd565b9050602002810190610452919061090c565b90506104906104646020830183610714565b610474604084016020850161094a565b6040840135606085013561048b6080870187610965565b61049e565b50600101610425565b505050565b73ffffffffffffffffffffffffffffffffffffffff86166000908152600260205260408120546104d99067ffffffffffffffff1660016109d1565b90508067ffffffffffffffff168667ffffffffffffffff16036105ad5773ffffffffffffffffffffffffffffffffffffffff8716600081815260026020908152604080832080547fffffffffffffffffffffffffffffffffffffffffffffffff00000000000000001667ffffffffffffffff8c16908117909155600383528184208185529092529182902087905590519091907f57a630756b52337e0b52c8a6e94f0e5104db3fba897ae1749150212b05f5f2599061059f908990899089908990610a1e565b60405180910390a3506102f2565b67ffffffffffffffff861615806105d757508067ffffffffffffffff168667ffffffffffffffff16115b1561063e576040517f786c86e900000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8816600482015267ffffffffffffffff808316602483015287166044820152606401610223565b73ffffffffffffffffffffffffffffffffffffffff8716600090815260036020908152604080832067ffffffffffffffff8a1684529091529020548481146106e1576040517f6250907400000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8916600482015267ffffffffffffffff8816602482015260448101829052606401610223565b5050505050505050565b803573ffffffffffffffffffffffffffffffffffffffff8116811461070f57600080fd5b919050565b60006020828403121561072657600080fd5b61072f826106eb565b9392505050565b803567ffffffffffffffff8116811461070f57600080fd5b60008060008060008060a0878903121561076757600080fd5b610770876106eb565b955061077e60208801610736565b94506040870135935060608701359250608087013567ffffffffffffffff8111156107a857600080fd5b8701601f810189136107b957600080fd5b803567ffffffffffffffff8111156107d057600080fd5b8960208284010111156107e257600080fd5b60208201935080925050509295509295509295565b6000806040838503121561080a57600080fd5b610813836106eb565b91506020830135801515811461082857600080fd5b809150509250929050565b6000806020838503121561084657600080fd5b823567ffffffffffffffff81111561085d57600080fd5b8301601f8101851361086e57600080fd5b803567ffffffffffffffff81111561088557600080fd5b8560208260051b840101111561089a57600080fd5b6020919091019590945092505050565b600080604083850312156108bd57600080fd5b6108c6836106eb565b91506108d460208401610736565b90509250929050565b7f4e487b7100000000000000000000000000000000000000000000000000000000600052603260045260246000fd5b600082357fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff6183360301811261094057600080fd5b9190910192915050565b60006020828403121561095c57600080fd5b61072f82610736565b60008083357fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe184360301811261099a57600080fd5b83018035915067ffffffffffffffff8211156109b557600080fd5b6020019150368190038213156109ca57600080fd5b9250929050565b67ffffffffffffffff8181168382160190811115610a18577f4e487b7100000000000000000000000000000000000000000000000000000000600052601160045260246000fd5b92915050565b84815283602082015260606040820152816060820152818360808301376000818301608090810191909152601f9092017fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0160101939250505056fea164736f6c6343000825000a';
