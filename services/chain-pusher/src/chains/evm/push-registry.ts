// Written by contracts/compile.js.
export const pushRegistryAbi = [
  {
    inputs: [
      {
        internalType: 'address',
        name: 'firstOwner',
        type: 'address',
      },
    ],
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
    inputs: [],
    name: 'NoOwner',
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
    name: 'NotOffered',
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
        name: 'owner',
        type: 'address',
      },
      {
        indexed: true,
        internalType: 'address',
        name: 'offeredTo',
        type: 'address',
      },
    ],
    name: 'OwnerOffered',
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
    inputs: [],
    name: 'acceptOwner',
    outputs: [],
    stateMutability: 'nonpayable',
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
    inputs: [
      {
        internalType: 'address',
        name: 'newOwner',
        type: 'address',
      },
    ],
    name: 'offerOwner',
    outputs: [],
    stateMutability: 'nonpayable',
    type: 'function',
  },
  {
    inputs: [],
    name: 'offeredTo',
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
  '0x608060405234801561001057600080fd5b50604051610ccd380380610ccd83398101604081905261002f916100ed565b6001600160a01b03811661005657604051633fa8f08160e11b815260040160405180910390fd5b600080546001600160a01b0319166001600160a01b038316908117825533825260026020526040808320805460ff191660011790555190917fa2ea9883a321a3e97b8266c2b078bfeec6d50c711ed71f874a90d500ae2eaf3691a26040516001815233907ff324b6f645fedbcfae7f2d3d58d2de90e249e76399f929bcfdaa0a022614a4469060200160405180910390a25061011d565b6000602082840312156100ff57600080fd5b81516001600160a01b038116811461011657600080fd5b9392505050565b610ba18061012c6000396000f3fe608060405234801561001057600080fd5b50600436106100be5760003560e01c8063918af2cf11610076578063e15b7c661161005b578063e15b7c66146101ae578063e2a7433f146101f1578063ebbc49651461022a57600080fd5b8063918af2cf1461015b578063d117ca5f1461017b57600080fd5b806378d8571e116100a757806378d8571e146100eb5780637c3bce08146100fe5780638da5cb5b1461011157600080fd5b8063556b76fb146100c357806362460eb6146100d8575b600080fd5b6100d66100d1366004610847565b610232565b005b6100d66100e63660046108f0565b610298565b6100d66100f936600461092c565b610375565b6100d661010c3660046109a3565b61043c565b6000546101319073ffffffffffffffffffffffffffffffffffffffff1681565b60405173ffffffffffffffffffffffffffffffffffffffff90911681526020015b60405180910390f35b6001546101319073ffffffffffffffffffffffffffffffffffffffff1681565b61019e6101893660046109a3565b60026020526000908152604090205460ff1681565b6040519015158152602001610152565b6101d86101bc3660046109a3565b60036020526000908152604090205467ffffffffffffffff1681565b60405167ffffffffffffffff9091168152602001610152565b61021c6101ff3660046109c5565b600460209081526000928352604080842090915290825290205481565b604051908152602001610152565b6100d6610505565b3360009081526002602052604090205460ff16610282576040517f31d7f16e0000000000000000000000000000000000000000000000000000000081523360048201526024015b60405180910390fd5b6102908686868686866105b9565b505050505050565b60005473ffffffffffffffffffffffffffffffffffffffff1633146102eb576040517f245aecd3000000000000000000000000000000000000000000000000000000008152336004820152602401610279565b73ffffffffffffffffffffffffffffffffffffffff821660008181526002602090815260409182902080547fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff001685151590811790915591519182527ff324b6f645fedbcfae7f2d3d58d2de90e249e76399f929bcfdaa0a022614a446910160405180910390a25050565b3360009081526002602052604090205460ff166103c0576040517f31d7f16e000000000000000000000000000000000000000000000000000000008152336004820152602401610279565b60005b8181101561043757368383838181106103de576103de6109f8565b90506020028101906103f09190610a27565b905061042e61040260208301836109a3565b6104126040840160208501610a65565b604084013560608501356104296080870187610a80565b6105b9565b506001016103c3565b505050565b60005473ffffffffffffffffffffffffffffffffffffffff16331461048f576040517f245aecd3000000000000000000000000000000000000000000000000000000008152336004820152602401610279565b600180547fffffffffffffffffffffffff00000000000000000000000000000000000000001673ffffffffffffffffffffffffffffffffffffffff83811691821790925560008054604051929316917f5323dc533c0f21ff3350e37ad56cf269a8d8d1cdf6c636d6d91167aa54f53acc9190a350565b60015473ffffffffffffffffffffffffffffffffffffffff163314610558576040517fd2923498000000000000000000000000000000000000000000000000000000008152336004820152602401610279565b60008054337fffffffffffffffffffffffff0000000000000000000000000000000000000000918216811783556001805490921690915560405190917fa2ea9883a321a3e97b8266c2b078bfeec6d50c711ed71f874a90d500ae2eaf3691a2565b73ffffffffffffffffffffffffffffffffffffffff86166000908152600360205260408120546105f49067ffffffffffffffff166001610aec565b90508067ffffffffffffffff168667ffffffffffffffff16036106c85773ffffffffffffffffffffffffffffffffffffffff8716600081815260036020908152604080832080547fffffffffffffffffffffffffffffffffffffffffffffffff00000000000000001667ffffffffffffffff8c16908117909155600483528184208185529092529182902087905590519091907f57a630756b52337e0b52c8a6e94f0e5104db3fba897ae1749150212b05f5f259906106ba908990899089908990610b39565b60405180910390a350610290565b67ffffffffffffffff861615806106f257508067ffffffffffffffff168667ffffffffffffffff16115b15610759576040517f786c86e900000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8816600482015267ffffffffffffffff808316602483015287166044820152606401610279565b73ffffffffffffffffffffffffffffffffffffffff8716600090815260046020908152604080832067ffffffffffffffff8a1684529091529020548481146107fc576040517f6250907400000000000000000000000000000000000000000000000000000000815273ffffffffffffffffffffffffffffffffffffffff8916600482015267ffffffffffffffff8816602482015260448101829052606401610279565b5050505050505050565b803573ffffffffffffffffffffffffffffffffffffffff8116811461082a57600080fd5b919050565b803567ffffffffffffffff8116811461082a57600080fd5b60008060008060008060a0878903121561086057600080fd5b61086987610806565b95506108776020880161082f565b94506040870135935060608701359250608087013567ffffffffffffffff8111156108a157600080fd5b8701601f810189136108b257600080fd5b803567ffffffffffffffff8111156108c957600080fd5b8960208284010111156108db57600080fd5b60208201935080925050509295509295509295565b6000806040838503121561090357600080fd5b61090c83610806565b91506020830135801515811461092157600080fd5b809150509250929050565b6000806020838503121561093f57600080fd5b823567ffffffffffffffff81111561095657600080fd5b8301601f8101851361096757600080fd5b803567ffffffffffffffff81111561097e57600080fd5b8560208260051b840101111561099357600080fd5b6020919091019590945092505050565b6000602082840312156109b557600080fd5b6109be82610806565b9392505050565b600080604083850312156109d857600080fd5b6109e183610806565b91506109ef6020840161082f565b90509250929050565b7f4e487b7100000000000000000000000000000000000000000000000000000000600052603260045260246000fd5b600082357fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff61833603018112610a5b57600080fd5b9190910192915050565b600060208284031215610a7757600080fd5b6109be8261082f565b60008083357fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe1843603018112610ab557600080fd5b83018035915067ffffffffffffffff821115610ad057600080fd5b602001915036819003821315610ae557600080fd5b9250929050565b67ffffffffffffffff8181168382160190811115610b33577f4e487b7100000000000000000000000000000000000000000000000000000000600052601160045260246000fd5b92915050565b84815283602082015260606040820152816060820152818360808301376000818301608090810191909152601f9092017fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0160101939250505056fea164736f6c6343000825000a';
