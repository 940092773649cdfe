// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

// What a transfer by CCTP v2 meets on a chain, for tests: the calls, messages, events and refusals of Circle's
// contracts, and nothing of how these are governed. The code is put at the real addresses; `set…` is the tests' own.

contract StandInToken {
    string public constant name = "USD Coin";
    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    // A mint that says it was made and makes nothing.
    bool public mintsNothing;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function setMintsNothing(bool value) external {
        mintsNothing = value;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        require(allowance[from][msg.sender] >= value, "ERC20: transfer amount exceeds allowance");
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function mint(address to, uint256 value) external returns (bool) {
        if (mintsNothing) return true;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
        return true;
    }

    function burn(uint256 value) external {
        move(msg.sender, address(0), value);
    }

    function move(address from, address to, uint256 value) private {
        require(balanceOf[from] >= value, "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        if (to != address(0)) balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

contract StandInTransmitter {
    uint32 public constant version = 1;
    uint32 public localDomain;
    address public attester;
    StandInMessenger public messenger;
    mapping(bytes32 => uint256) public usedNonces;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    function setUp(uint32 domain, address signer, StandInMessenger minter) external {
        localDomain = domain;
        attester = signer;
        messenger = minter;
    }

    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external {
        require(destinationDomain != localDomain, "Domain is local domain");
        emit MessageSent(
            abi.encodePacked(
                version,
                localDomain,
                destinationDomain,
                bytes32(0),
                bytes32(uint256(uint160(msg.sender))),
                recipient,
                destinationCaller,
                minFinalityThreshold,
                uint32(0),
                messageBody
            )
        );
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation) external returns (bool) {
        require(attestation.length == 65, "Invalid attestation length");
        require(
            ecrecover(
                keccak256(message),
                uint8(attestation[64]),
                bytes32(attestation[0:32]),
                bytes32(attestation[32:64])
            ) == attester,
            "Invalid signature: not attester"
        );
        require(message.length >= 148, "Invalid message: too short");
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 caller = bytes32(message[108:140]);
        require(caller == 0 || caller == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message");
        require(uint32(bytes4(message[0:4])) == version, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        messenger.handleReceiveMessage(bytes32(message[44:76]), message[148:]);
        emit MessageReceived(
            msg.sender,
            uint32(bytes4(message[4:8])),
            nonce,
            bytes32(message[44:76]),
            uint32(bytes4(message[144:148])),
            message[148:]
        );
        return true;
    }
}

contract StandInMessenger {
    uint32 public constant messageBodyVersion = 1;
    StandInTransmitter public transmitter;
    // Minter of the chain's own token.
    StandInToken public token;
    // Tenths of a thousandth of a basis point, as the contract has it.
    uint256 public minFee;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected);

    function setUp(StandInTransmitter over, StandInToken mints) external {
        transmitter = over;
        token = mints;
    }

    function setMinFee(uint256 value) external {
        minFee = value;
    }

    function getMinFeeAmount(uint256 amount) public view returns (uint256) {
        if (minFee == 0) return 0;
        require(amount > 1, "Amount too low");
        uint256 fee = (amount * minFee) / 10_000_000;
        return fee == 0 ? 1 : fee;
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        require(burnToken == address(token), "Burn token not supported");
        burn(Burn(amount, destinationDomain, mintRecipient, destinationCaller, maxFee, minFinalityThreshold));
    }

    struct Burn {
        uint256 amount;
        uint32 domain;
        bytes32 recipient;
        bytes32 caller;
        uint256 maxFee;
        uint32 finality;
    }

    function burn(Burn memory one) private {
        require(one.amount > 0, "Amount must be nonzero");
        require(one.recipient != bytes32(0), "Mint recipient must be nonzero");
        require(one.maxFee < one.amount, "Max fee must be less than amount");
        require(one.maxFee >= getMinFeeAmount(one.amount), "Insufficient max fee");
        require(token.transferFrom(msg.sender, address(this), one.amount), "Transfer operation failed");
        token.burn(one.amount);
        bytes32 peer = wordOf(address(this));
        transmitter.sendMessage(one.domain, peer, one.caller, one.finality, bodyOf(one));
        emit DepositForBurn(
            address(token),
            one.amount,
            msg.sender,
            one.recipient,
            one.domain,
            peer,
            one.caller,
            one.maxFee,
            one.finality,
            ""
        );
    }

    function bodyOf(Burn memory one) private view returns (bytes memory) {
        return
            abi.encodePacked(
                messageBodyVersion,
                wordOf(address(token)),
                one.recipient,
                one.amount,
                wordOf(msg.sender),
                one.maxFee,
                uint256(0),
                uint256(0)
            );
    }

    function wordOf(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }

    function handleReceiveMessage(bytes32 sender, bytes calldata body) external {
        require(msg.sender == address(transmitter), "Invalid message transmitter");
        require(sender == bytes32(uint256(uint160(address(this)))), "Remote TokenMessenger unsupported");
        require(uint32(bytes4(body[0:4])) == messageBodyVersion, "Invalid message body version");
        uint256 amount = uint256(bytes32(body[68:100]));
        uint256 fee = uint256(bytes32(body[164:196]));
        uint256 lastBlock = uint256(bytes32(body[196:228]));
        require(lastBlock == 0 || lastBlock > block.number, "Message expired and must be re-signed");
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        address recipient = address(uint160(uint256(bytes32(body[36:68]))));
        token.mint(recipient, amount - fee);
        if (fee > 0) token.mint(address(this), fee);
        emit MintAndWithdraw(recipient, amount - fee, address(token), fee);
    }
}
