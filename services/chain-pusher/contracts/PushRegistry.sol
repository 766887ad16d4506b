// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The executions of deployments that were pushed to this chain, numbered 1, 2, 3 … per deployment.
/// @notice Repeating a push changes nothing, so a push whose transaction was lost can be sent again.
contract PushRegistry {
    /// @param entryHash the hash of the execution's journal entry
    /// @param digest SHA-256 of the whole content as RFC 8785 JSON
    /// @param data the UTF-8 text of that JSON; empty where only the digest was pushed
    event Pushed(
        address indexed deployment,
        uint64 indexed number,
        bytes32 entryHash,
        bytes32 digest,
        bytes data
    );
    event PusherChanged(address indexed pusher, bool allowed);
    event OwnerOffered(address indexed owner, address indexed offeredTo);
    event OwnerChanged(address indexed owner);

    error NoOwner();
    error NotOwner(address caller);
    error NotOffered(address caller);
    error NotPusher(address caller);
    error OutOfSequence(address deployment, uint64 expected, uint64 given);
    error DifferentDigest(address deployment, uint64 number, bytes32 recorded);

    struct Push {
        address deployment;
        uint64 number;
        bytes32 entryHash;
        bytes32 digest;
        bytes data;
    }

    address public owner;
    /// @notice Who may accept the ownership; zero for nobody.
    address public offeredTo;
    mapping(address pusher => bool) public isPusher;
    /// @notice The number of a deployment's last push, 0 for none.
    mapping(address deployment => uint64) public lastNumber;
    mapping(address deployment => mapping(uint64 number => bytes32)) public digestOf;

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        _;
    }

    modifier onlyPusher() {
        if (!isPusher[msg.sender]) revert NotPusher(msg.sender);
        _;
    }

    /// @notice Who deploys it may push. The owner, who names the pushers, need not: its key can stay offline.
    constructor(address firstOwner) {
        if (firstOwner == address(0)) revert NoOwner();
        owner = firstOwner;
        isPusher[msg.sender] = true;
        emit OwnerChanged(firstOwner);
        emit PusherChanged(msg.sender, true);
    }

    function setPusher(address pusher, bool allowed) external onlyOwner {
        isPusher[pusher] = allowed;
        emit PusherChanged(pusher, allowed);
    }

    /// @notice The first of two steps, so that the ownership cannot go to an address that nobody has the key of. Offering it
    /// to another address, or to zero, takes the offer back.
    function offerOwner(address newOwner) external onlyOwner {
        offeredTo = newOwner;
        emit OwnerOffered(owner, newOwner);
    }

    /// @notice The second step: by whom it was offered to.
    function acceptOwner() external {
        if (msg.sender != offeredTo) revert NotOffered(msg.sender);
        owner = msg.sender;
        offeredTo = address(0);
        emit OwnerChanged(msg.sender);
    }

    function push(
        address deployment,
        uint64 number,
        bytes32 entryHash,
        bytes32 digest,
        bytes calldata data
    ) external onlyPusher {
        record(deployment, number, entryHash, digest, data);
    }

    /// @notice Several pushes in their order, all or none.
    function pushMany(Push[] calldata pushes) external onlyPusher {
        for (uint256 i = 0; i < pushes.length; ++i) {
            Push calldata one = pushes[i];
            record(one.deployment, one.number, one.entryHash, one.digest, one.data);
        }
    }

    function record(
        address deployment,
        uint64 number,
        bytes32 entryHash,
        bytes32 digest,
        bytes calldata data
    ) private {
        uint64 expected = lastNumber[deployment] + 1;
        if (number == expected) {
            lastNumber[deployment] = number;
            digestOf[deployment][number] = digest;
            emit Pushed(deployment, number, entryHash, digest, data);
            return;
        }
        if (number == 0 || number > expected) revert OutOfSequence(deployment, expected, number);
        bytes32 recorded = digestOf[deployment][number];
        if (recorded != digest) revert DifferentDigest(deployment, number, recorded);
    }
}
