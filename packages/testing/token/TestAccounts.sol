// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// An account that a key owns: it takes the owner's signatures (EIP-1271), whatever their case of s.
contract TestAccount {
    address public immutable owner;

    constructor(address owner_) { owner = owner_; }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        address signer = ecrecover(hash, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        return signer != address(0) && signer == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// Makes accounts whose addresses are known before they exist (EIP-6492).
contract TestAccountFactory {
    function create(address owner, bytes32 salt) external returns (address) {
        return address(new TestAccount{salt: salt}(owner));
    }

    function addressOf(address owner, bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(TestAccount).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}

/// Accounts that do not mean well: they send the asker elsewhere (EIP-3668), or work until the gas is gone.
contract HostileAccount {
    error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

    string private url;

    constructor(string memory url_) { url = url_; }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (bytes(url).length == 0) for (uint256 n = 0; ; ++n) keccak256(abi.encode(n));
        string[] memory urls = new string[](1);
        urls[0] = url;
        revert OffchainLookup(address(this), urls, "", this.isValidSignature.selector, "");
    }
}
