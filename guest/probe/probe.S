/*
 * kvm-probe: a kernel of some hundred instructions that tests whether this host's KVM really runs guests. It
 * is not enough that the device opens: on some hosts nested virtualisation hangs or fails as soon as a guest
 * does what every kernel does. So the probe does the same: long mode with paging, SSE, and an exception
 * through an IDT. Then it writes 32 to the debug-exit port, which makes QEMU end with status 65.
 */
    .section .note.pvh, "a", @note
    .balign 4
    .long 4, 4, 18          /* XEN_ELFNOTE_PHYS32_ENTRY */
    .asciz "Xen"
    .long probe_start

    .text
    .code32
    .globl probe_start
probe_start:
    cli
    movl $stack_end, %esp
    lgdt gdt_pointer

    /* One table of 2 MiB pages maps the first GiB to itself. */
    movl $page_directory, %edi
    movl $0x83, %eax
    movl $512, %ecx
1:  movl %eax, (%edi)
    movl $0, 4(%edi)
    addl $0x200000, %eax
    addl $8, %edi
    loop 1b
    movl $page_directory + 3, page_pointers
    movl $page_pointers + 3, page_top

    movl %cr4, %eax
    orl $0x620, %eax        /* PAE, OSFXSR, OSXMMEXCPT */
    movl %eax, %cr4
    movl $page_top, %eax
    movl %eax, %cr3
    movl $0xc0000080, %ecx  /* EFER */
    rdmsr
    orl $0x100, %eax        /* long mode */
    wrmsr
    movl %cr0, %eax
    andl $~4, %eax          /* no emulation of the FPU */
    orl $0x80000003, %eax   /* paging, monitor, protection */
    movl %eax, %cr0
    ljmp $8, $long_mode

    .code64
long_mode:
    movw $16, %ax
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %ss
    movq $stack_end, %rsp

    pxor %xmm0, %xmm0
    movdqu %xmm0, scratch(%rip)
    movq $0x1234, %rax
    movq %rax, %xmm1
    paddq %xmm1, %xmm0
    movq %xmm0, %rbx
    cmpq %rax, %rbx
    jne failed

    /* Vector 6 is the invalid opcode. The probe succeeds when it reaches this handler. */
    leaq handler(%rip), %rax
    leaq idt + 6 * 16(%rip), %rdi
    movw %ax, (%rdi)
    movw $8, 2(%rdi)
    movw $0x8e00, 4(%rdi)
    shrq $16, %rax
    movw %ax, 6(%rdi)
    shrq $16, %rax
    movl %eax, 8(%rdi)
    lidt idt_pointer(%rip)
    ud2

failed:
    movb $1, %al
    outb %al, $0xf4
1:  hlt
    jmp 1b

handler:
    movb $32, %al           /* QEMU's exit status becomes 32 * 2 + 1 */
    outb %al, $0xf4
1:  hlt
    jmp 1b

    .balign 8
gdt:
    .quad 0
    .quad 0x00af9a000000ffff  /* code, 64 bit */
    .quad 0x00cf92000000ffff  /* data */
gdt_pointer:
    .word gdt_pointer - gdt - 1
    .long gdt
idt_pointer:
    .word 256 * 16 - 1
    .quad idt

    .bss
    .balign 4096
page_top:       .skip 4096
page_pointers:  .skip 4096
page_directory: .skip 4096
idt:            .skip 4096
scratch:        .skip 16
                .skip 4096
stack_end:
